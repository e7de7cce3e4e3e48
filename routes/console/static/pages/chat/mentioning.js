// What is written, as a message that mentions the members who are called in it.
import { chat } from "../../api.js";

let last = { id: null, count: 0, people: [] }; // the members of the large group that was written to last

/** Whether all who can be mentioned are known. A conversation has its first hundred members with it. */
export const isKnown = (text, { participants, participantCount }) => !text.includes("@") || participants.length >= participantCount;

/** All who can be mentioned in a text. */
export async function mentionable(text, conversation) {
  const { id, participants, participantCount: count } = conversation;
  if (isKnown(text, conversation)) return participants;
  if (last.id !== id || last.count !== count) {
    const people = [];
    let page = { nextCursor: null };
    do {
      page = await chat.participants(id, { limit: 200, cursor: page.nextCursor });
      people.push(...page.items);
    } while (page.hasMore);
    last = { id, count, people };
  }
  return last.people;
}

/** `@Name` of somebody in the conversation becomes a mention; the longest name that fits wins. */
export function messageOf(text, participants) {
  const people = participants.toSorted((one, other) => other.name.length - one.name.length);
  const tokenOf = ({ id }) => `<@user:${id}>`;
  // Each place once: somebody may be called like a part of what the mention of another becomes.
  const known = new RegExp(people.map(({ name }) => `@${name.replace(/\W/g, "\\$&")}`).join("|") || "(?!)", "g");
  const content = text.trim().replace(known, (found) => tokenOf(people.find(({ name }) => found === `@${name}`)));
  const mentions = people.filter((person) => content.includes(tokenOf(person))).map(({ id, name }) => ({ kind: "user", id, label: name }));
  return { content, ...(mentions.length && { mentions }) };
}
