// SPDX-License-Identifier: Apache-2.0
import { issues, useLoaded } from "../api";
import { count } from "../format";
import { useTitle } from "../parts/shell";
import { Sparkline } from "../parts/sparkline";
import { Empty, Older, Show } from "../parts/states";
import { When } from "../parts/when";
import type { Issue, IssueList } from "../types";

export function IssuesPage({ before }: { before: string | null }) {
  useTitle("Issues");
  const loaded = useLoaded(`issues ${before}`, issues(before));
  return (
    <Show of={loaded} what="issues">
      {(list) => (
        <>
          <Totals list={list} />
          {list.issues.length === 0 ? <NoIssues list={list} /> : <Table list={list.issues} />}
          <Older path="/" next={list.next} />
        </>
      )}
    </Show>
  );
}

function Totals({ list: { totals } }: { list: IssueList }) {
  return (
    <div class="heading">
      <h1>Issues</h1>
      <p class="muted">
        {count(totals.issues, "issue")}, {count(totals.reports, "report")}
        {totals.waiting > 0 && `, ${totals.waiting} being decoded`}
        {totals.undecodable > 0 && (
          <>
            , <a href="/reports">{count(totals.undecodable, "report")} that cannot be decoded</a>
          </>
        )}
      </p>
    </div>
  );
}

function NoIssues({ list }: { list: IssueList }) {
  return list.totals.issues > 0 ? (
    <Empty title="Nothing older">
      <p>
        The newest are on the <a href="/">first page</a>.
      </p>
    </Empty>
  ) : (
    <Empty title="No crash has been reported yet">
      <p>
        Point a program's <code>upload_url</code> (or <code>CAIRN_UPLOAD_URL</code>) at{" "}
        <code>{location.origin}</code>, or send a directory by hand:
      </p>
      <pre>CAIRN_UPLOAD_URL={location.origin} cairn upload DIR</pre>
    </Empty>
  );
}

function Table({ list }: { list: Issue[] }) {
  return (
    <table class="list issues">
      <thead>
        <tr>
          <th scope="col">Issue</th>
          <th scope="col" class="number">
            Reports
          </th>
          <th scope="col">14 days</th>
          <th scope="col">Last seen</th>
          <th scope="col">First seen</th>
          <th scope="col">Versions</th>
        </tr>
      </thead>
      <tbody>
        {list.map((issue) => (
          <Row key={issue.id} issue={issue} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ issue }: { issue: Issue }) {
  return (
    <tr>
      <td class="what">
        <a class="title" href={`/issues/${issue.id}`}>
          {issue.title}
        </a>
        <div class="signature">
          {issue.app_id && <b>{issue.app_id}</b>} {issue.signature}
        </div>
      </td>
      <td class="number" data-label="Reports">
        {issue.count.toLocaleString("en")}
      </td>
      <td data-label="14 days">
        <Sparkline days={issue.trend} />
      </td>
      <td data-label="Last seen">
        <When at={issue.last_seen} />
      </td>
      <td data-label="First seen">
        <When at={issue.first_seen} />
      </td>
      <td data-label="Versions">
        <Versions list={issue.versions} />
      </td>
    </tr>
  );
}

export function Versions({ list, most = 3 }: { list: Issue["versions"]; most?: number }) {
  const known = list.filter((entry) => entry.version);
  if (known.length === 0) {
    return <span class="muted">unknown</span>;
  }
  return (
    <span class="versions">
      {known.slice(0, most).map((entry) => (
        <span key={entry.version} class="chip" title={count(entry.count, "report")}>
          {entry.version}
        </span>
      ))}
      {known.length > most && <span class="muted">+{known.length - most}</span>}
    </span>
  );
}
