// Beginning a conversation with one friend, or with several.
import { useState } from "preact/hooks";
import { chat } from "../../api.js";
import { html } from "../../html.js";
import { useShared } from "../../live.js";
import { go, place } from "../../router.js";
import { useAction } from "../../store.js";
import { Complaint, Empty, Loading } from "../../ui/states.js";
import { say } from "../../words.js";
import { FriendChoice } from "./friend-choice.js";

/** @param {{close: () => void}} props */
export function NewConversation({ close }) {
  const friends = useShared("friends").data?.friends ?? null;
  const [chosen, setChosen] = useState([]);
  const begin = useAction(async () => {
    const { path: from } = place.value;
    const made = await chat.open(chosen, chosen.length === 1 ? "direct" : "group");
    close();
    go(`/app/chat/${made.id}`, { from });
  });
  if (friends === null) return html`<${Loading} />`;
  if (friends.length === 0) return html`<${Empty} action=${html`<a class="button" href="/app/friends">${say("friends.find")}</a>`}>${say("friends.none")}<//>`;
  return html`<form class="newchat" onSubmit=${(event) => { event.preventDefault(); begin.run(); }}>
    <${FriendChoice} legend=${say("chat.with")} friends=${friends} chosen=${chosen} choose=${setChosen} />
    <button class="primary" disabled=${chosen.length === 0 || begin.isRunning}>${say("chat.begin")}</button>
    <${Complaint} error=${begin.error} />
  </form>`;
}
