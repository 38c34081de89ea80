// SPDX-License-Identifier: Apache-2.0
import { issue, reports, useLoaded } from "../api";
import { count } from "../format";
import { ReportTable } from "../parts/report_table";
import { useTitle } from "../parts/shell";
import { Older, Show } from "../parts/states";
import { Trend } from "../parts/trend";
import { When } from "../parts/when";
import type { Issue } from "../types";
import { Versions } from "./issues";

export function IssuePage({ id, before }: { id: string; before: string | null }) {
  const loaded = useLoaded(`issue ${id}`, issue(id));
  useTitle(loaded.state === "ready" ? loaded.value.title : "Issue");
  return (
    <Show of={loaded} what="issue">
      {(found) => (
        <>
          <Head issue={found} />
          <Trend days={found.trend} />
          <Reports id={id} before={before} />
        </>
      )}
    </Show>
  );
}

function Head({ issue: found }: { issue: Issue }) {
  return (
    <div class="heading">
      <h1 class="headline">{found.title}</h1>
      <p class="signature">{found.signature}</p>
      <dl class="facts row">
        <div>
          <dt>Reports</dt>
          <dd>{found.count.toLocaleString("en")}</dd>
        </div>
        <div>
          <dt>Last seen</dt>
          <dd>
            <When at={found.last_seen} />
          </dd>
        </div>
        <div>
          <dt>First seen</dt>
          <dd>
            <When at={found.first_seen} />
          </dd>
        </div>
        {found.app_id && (
          <div>
            <dt>App</dt>
            <dd>{found.app_id}</dd>
          </div>
        )}
        <div>
          <dt>Versions</dt>
          <dd>
            <Versions list={found.versions} most={8} />
          </dd>
        </div>
      </dl>
      <p>
        <a class="button strong" href={`/reports/${found.latest_report}`}>
          Open the latest report
        </a>
      </p>
    </div>
  );
}

function Reports({ id, before }: { id: string; before: string | null }) {
  const loaded = useLoaded(`reports of ${id} ${before}`, reports(id, before));
  return (
    <section>
      <h2>Reports</h2>
      <Show of={loaded} what="reports">
        {(list) => (
          <>
            {list.reports.length === 0 ? (
              <p class="muted">{count(0, "report")} on this page.</p>
            ) : (
              <ReportTable list={list.reports} titles={false} />
            )}
            <Older path={`/issues/${id}`} next={list.next} />
          </>
        )}
      </Show>
    </section>
  );
}
