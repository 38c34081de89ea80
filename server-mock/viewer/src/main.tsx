// SPDX-License-Identifier: Apache-2.0
import { render } from "preact";
import { Shell } from "./parts/shell";
import { IssuePage } from "./pages/issue";
import { IssuesPage } from "./pages/issues";
import { ReportPage } from "./pages/report";
import { ReportsPage } from "./pages/reports";
import { UnknownPage } from "./pages/unknown";
import { useRoute } from "./router";
import "./style.css";

function App() {
  const route = useRoute();
  const page = () => {
    switch (route.page) {
      case "issues":
        return <IssuesPage before={route.before} />;
      case "issue":
        return <IssuePage id={route.id} before={route.before} />;
      case "reports":
        return <ReportsPage before={route.before} />;
      case "report":
        return <ReportPage uuid={route.uuid} />;
      case "unknown":
        return <UnknownPage path={route.path} />;
    }
  };
  return <Shell page={route.page}>{page()}</Shell>;
}

render(<App />, document.getElementById("app")!);
