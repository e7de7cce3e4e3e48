// What a conversation is called: its title, else the others in it.
import { me } from "../session.js";
import { listed, say } from "../words.js";

export function titleOf(conversation) {
  if (conversation.title) return conversation.title;
  const others = conversation.participants.filter((person) => person.id !== me.value.id).map((person) => person.name);
  return others.length ? listed(others.slice(0, 5)) : say("chat.nobody");
}
