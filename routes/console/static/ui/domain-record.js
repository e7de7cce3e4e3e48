// The DNS record that proves a domain: what to enter, what DNS answers, and looking again by itself until it is there.
import { useEffect, useState } from "preact/hooks";
import { networks as api } from "../api.js";
import { html } from "../html.js";
import { useAction } from "../store.js";
import { say } from "../words.js";
import { copyText } from "./chip.js";
import { ofRow } from "./row.js";
import { Complaint } from "./states.js";
import { toast } from "./toast.js";
import { When } from "./when.js";

const LOOKS_EVERY_MS = 30_000;

/**
 * @param {{network: string, domain: any, txt: {name: string, value: string}, verified: (domain: any) => unknown,
 *   children?: any}} props `domain` is a claim that is not verified; `verified` is told once it is; `children` are further
 *   buttons.
 */
export function DomainRecord({ network, domain, txt, verified, children }) {
  const [seen, see] = useState(domain);
  const check = useAction(async () => {
    const checked = await verdictOf(network, domain.id);
    see((before) => ({ ...before, ...checked }));
    if (checked.verified) await verified(checked);
  });
  useEffect(() => {
    const timer = setInterval(() => { if (!document.hidden) check.run(); }, LOOKS_EVERY_MS);
    return () => clearInterval(timer);
  }, [network, domain.id]);
  return html`<div class="record"><p>${say("claim.record")}</p>
    <dl class="facts"><dt>${say("claim.recordName")}</dt><dd><${Copied} text=${txt.name} /></dd><dt>${say("claim.recordType")}</dt><dd><code>TXT</code></dd><dt>${say("claim.recordValue")}</dt><dd><${Copied} text=${txt.value} /></dd></dl>
    <p role="status">${seen.lastCheckedAt ? [say("claim.notYet"), seen.observed.length > 0 ? say("claim.observed", { found: seen.observed.join(", ") }) : say("claim.nothingObserved")].join(" ") : say("claim.notLooked")}</p>
    <p class="dim">${seen.lastCheckedAt && html`${say("claim.lastLook")} <${When} at=${seen.lastCheckedAt} />. `}${say("claim.looksAgain")}</p>
    <${Complaint} error=${check.error} />
    <div class="buttons start"><button type="button" class="primary" disabled=${check.isRunning} onClick=${() => check.run()} ...${ofRow("claim.check", domain.domain)} />${children}</div></div>`;
}

// A record that is not there yet is a 409 that says what was there instead.
async function verdictOf(network, domain) {
  try {
    return (await api.verifyDomain(network, domain)).domain;
  } catch (error) {
    if (error.status !== 409 || !error.meta?.lastCheckedAt) throw error;
    return error.meta;
  }
}

function Copied({ text }) {
  const copy = async () => toast(say((await copyText(text)) ? "id.copied" : "id.select"));
  return html`<code>${text}</code> <button type="button" class="quiet" aria-label=${say("action.copyText", { text })} onClick=${copy}>${say("action.copy")}</button>`;
}
