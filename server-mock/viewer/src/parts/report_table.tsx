// SPDX-License-Identifier: Apache-2.0
import { bytes, version } from "../format";
import type { ReportRow } from "../types";
import { When } from "./when";

export function ReportTable({ list, titles }: { list: ReportRow[]; titles: boolean }) {
  return (
    <table class="list reports">
      <thead>
        <tr>
          <th scope="col">Report</th>
          <th scope="col">Received</th>
          <th scope="col">Program</th>
          <th scope="col">Version</th>
          <th scope="col">System</th>
          <th scope="col" class="number">
            Size
          </th>
        </tr>
      </thead>
      <tbody>
        {list.map((report) => (
          <Row key={report.uuid} report={report} titles={titles} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ report, titles }: { report: ReportRow; titles: boolean }) {
  return (
    <tr>
      <td class="what">
        <a class={titles && report.title ? "title" : "uuid"} href={`/reports/${report.uuid}`}>
          {titles && report.title ? report.title : report.uuid}
        </a>
        <State report={report} />
      </td>
      <td data-label="Received">
        <When at={report.received} />
      </td>
      <td data-label="Program">{report.process || report.app?.id || <span class="muted">unknown</span>}</td>
      <td data-label="Version">{version(report.app) || <span class="muted">unknown</span>}</td>
      <td data-label="System">{report.os || <span class="muted">unknown</span>}</td>
      <td class="number" data-label="Size">
        {bytes(report.bytes)}
      </td>
    </tr>
  );
}

function State({ report }: { report: ReportRow }) {
  if (report.state === "undecodable") {
    return <div class="bad">cannot be decoded: {report.problem}</div>;
  }
  if (report.state === "waiting") {
    return <div class="muted">being decoded</div>;
  }
  return report.complete === false ? <div class="warn">not whole</div> : null;
}
