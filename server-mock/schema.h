// SPDX-License-Identifier: Apache-2.0
//
// The database's tables. `PRAGMA user_version` counts the steps taken.
#ifndef CAIRN_SERVER_SCHEMA_H_
#define CAIRN_SERVER_SCHEMA_H_

#include "database.h"

namespace cairn::server {

// Brings the database to the newest schema, in one transaction a step. Throws
// DatabaseError; a database of a newer server is refused.
void Migrate(Connection& connection);

}  // namespace cairn::server

#endif  // CAIRN_SERVER_SCHEMA_H_
