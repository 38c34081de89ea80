// SPDX-License-Identifier: Apache-2.0
import Chart from "uplot";
import "uplot/dist/uPlot.min.css";

export { Chart };
