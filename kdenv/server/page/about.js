// The description of the API, from /api/v1/openapi.json.

import { get } from "./api.js";
import { el, table } from "./parts.js";

export async function showApi(main, signal) {
  const { info, paths } = await get("/openapi.json", { signal });
  main.append(el("h1", {}, "API"), el("p", {}, info.description, " ", el("a", { href: "/api/v1/openapi.json" }, "openapi.json")));
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, about] of Object.entries(methods)) {
      const fields = Object.entries(about.requestBody?.content["application/json"].schema.properties || {});
      const rows = [
        ...about.parameters.filter((each) => each.in === "query").map((each) => [each.name, "query", each.description || ""]),
        ...fields.map(([name, schema]) => [name, "body", schema.description || ""]),
      ];
      main.append(el("section", { class: "panel" }, el("h2", {}, `${method.toUpperCase()} ${path}`), el("p", {}, about.summary,
        about.security ? (about.security.length > 1 ? " A token may be given." : " A token must be given.") : ""),
        rows.length ? table(["name", "in", "meaning"], rows) : null));
    }
  }
}
