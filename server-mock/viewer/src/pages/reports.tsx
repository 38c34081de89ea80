// SPDX-License-Identifier: Apache-2.0
import { reports, useLoaded } from "../api";
import { ReportTable } from "../parts/report_table";
import { useTitle } from "../parts/shell";
import { Empty, Older, Show } from "../parts/states";

export function ReportsPage({ before }: { before: string | null }) {
  useTitle("Reports");
  const loaded = useLoaded(`reports ${before}`, reports(null, before));
  return (
    <Show of={loaded} what="reports">
      {(list) => (
        <>
          <div class="heading">
            <h1>Reports</h1>
            <p class="muted">Newest first, those that cannot be decoded too</p>
          </div>
          {list.reports.length === 0 ? (
            <Empty title="No report here">
              <p>
                The newest are on the <a href="/reports">first page</a>.
              </p>
            </Empty>
          ) : (
            <ReportTable list={list.reports} titles={true} />
          )}
          <Older path="/reports" next={list.next} />
        </>
      )}
    </Show>
  );
}
