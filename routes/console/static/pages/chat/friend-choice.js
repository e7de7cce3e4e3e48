// A choice of friends, for a new conversation or one that grows.
import { html } from "../../html.js";
import { Face } from "../../ui/face.js";

/** @param {{legend: string, friends: any[], chosen: string[], choose: (ids: string[]) => void}} props `chosen` are ids. */
export function FriendChoice({ legend, friends, chosen, choose }) {
  const toggle = (friendId) => choose(chosen.includes(friendId) ? chosen.filter((one) => one !== friendId) : [...chosen, friendId]);
  return html`<fieldset><legend>${legend}</legend>
    ${friends.map((friend) => html`<label key=${friend.friendId} class="person">
      <input type="checkbox" checked=${chosen.includes(friend.friendId)} onChange=${() => toggle(friend.friendId)} />
      <${Face} id=${friend.friendId} name=${friend.name} isOnline=${friend.online} /> <bdi>${friend.name}</bdi></label>`)}
  </fieldset>`;
}
