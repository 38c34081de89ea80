/* SPDX-License-Identifier: Apache-2.0
 *
 * A consumer's program, in C: installs, says what came of it, uninstalls.
 * Exit code 0 only if Cairn was installed into the directory of argv[1]. */
#include <cairn/cairn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  cairn_config config;
  cairn_config_init(&config);
  config.directory = argc > 1 ? argv[1] : "";
  config.app_id = "com.example.consumer";
  cairn_status status = cairn_install(&config);
  printf("%s\n", cairn_status_text(status));
  if (status != CAIRN_OK) {
    return 1;
  }
  return cairn_uninstall() == CAIRN_OK ? 0 : 1;
}
