// SPDX-License-Identifier: Apache-2.0
//
// What led up to it and what was loaded: breadcrumbs, keys, images.
import { baseName, bytes, time } from "../format";
import type { Image, Report } from "../types";
import { symbolStatus } from "../words";

export function Breadcrumbs({ report }: { report: Report }) {
  const all = report.breadcrumbs ?? [];
  return all.length === 0 ? null : (
    <section>
      <h2>
        Breadcrumbs <span class="muted">newest last</span>
      </h2>
      <ol class="crumbs">
        {all.map((crumb, i) => (
          <li key={i}>
            <span class="at">{crumb.time ? time(crumb.time).slice(11, 19) : ""}</span>
            {crumb.category && <span class="chip">{crumb.category}</span>}
            <span>{crumb.message}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

export function Keys({ report }: { report: Report }) {
  const all = Object.entries(report.keys ?? {});
  return all.length === 0 ? null : (
    <section>
      <h2>Keys</h2>
      <dl class="facts">
        {all.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

export function Images({ report }: { report: Report }) {
  const all = report.images ?? [];
  return (
    <section>
      <h2>
        Images <span class="muted">{all.length}</span>
      </h2>
      {all.length === 0 ? (
        <p class="muted">No image is in the report.</p>
      ) : (
        <details class="images">
          <summary>All files that were loaded, with address and build-id</summary>
          <ul>
            {all.map((image, i) => (
              <ImageRow key={i} image={image} />
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

function ImageRow({ image }: { image: Image }) {
  const status = symbolStatus(image.symbols);
  return (
    <li>
      <div>
        <b>{baseName(image.path) || "(no name)"}</b> {image.unloaded && <span class="tag doubt">unloaded</span>}{" "}
        {status && <span class={image.symbols === "ok" ? "muted" : "warn"}>{status}</span>}
      </div>
      <div class="mono small">
        {image.address} {image.size === undefined ? "" : bytes(image.size)} {image.arch}
      </div>
      <div class="mono small muted">
        {image.id ? `${image.id}${image.id_is_derived ? " (derived from its code)" : ""}` : "no build-id"}
      </div>
      <div class="mono small muted">{image.path}</div>
    </li>
  );
}
