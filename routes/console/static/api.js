// What this page asks of the service. The token lives in this module's memory only.
let token = null;

async function ask(method, path, { body, bearer } = {}) {
  const response = await fetch(path, {
    method,
    headers: { ...(body && { "content-type": "application/json" }), ...(bearer && { authorization: `Bearer ${bearer}` }) },
    body: body && JSON.stringify(body),
  });
  const answer = response.status === 204 ? null : await response.json();
  if (!response.ok) throw Object.assign(new Error(answer.message), { status: response.status });
  return answer;
}

function keep(session) {
  token = session.token;
  return session;
}

export const listIssuers = () => ask("GET", "/v1/public/issuers");
export const inspectLink = (code) => ask("POST", "/v1/sign-in-links/inspect", { body: { code } });
export const beginByCode = async (code) => keep(await ask("POST", "/v1/sessions", { body: { code } }));
export const beginByToken = async (bearer) => keep(await ask("POST", "/v1/sessions", { bearer }));
export const renew = async () => keep(await ask("POST", "/v1/sessions/renew"));
export async function endCurrent() {
  await ask("DELETE", "/v1/sessions/current");
  token = null;
}
