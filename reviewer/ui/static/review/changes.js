// What has happened to an item since it was fetched, in a sentence: who did what.

import { sentences, t, word } from '../common/language.js'

/** @type {Record<string, (names: {person: string}) => string>} */
const DONE = {
  keep: (names) => t('{person} kept this item.', names),
  submit: (names) => t('{person} submitted this item.', names),
  pass: (names) => t('{person} passed this item.', names),
  approve: (names) => t('{person} approved this item.', names),
  reject: (names) => t('{person} rejected this item.', names),
  return: (names) => t('{person} returned this item.', names),
  abstain: (names) => t('{person} abstained on this item.', names),
}

/**
 * Who did what between two states of an item; "" where nothing of it concerns the person who reads it.
 * @param {Item} before @param {Item} after @param {string} me initials of the reader
 */
export function changeBetween(before, after, me) {
  const nameOf = (/** @type {string | null} */ person) => (person === me ? t('You') : (person ?? '?'))
  /** @type {string[]} */
  const changes = []
  const { number, author } = after.version
  if (number > before.version.number)
    changes.push(t('{person} saved version {number}.', { person: nameOf(author), number }))
  const known = before.standing.decisions.map(asText)
  for (const decision of after.standing.decisions) {
    const at = known.indexOf(asText(decision))
    if (at >= 0) known.splice(at, 1)
    else if (decision.verb in DONE) changes.push(DONE[decision.verb]({ person: nameOf(decision.person) }))
  }
  for (const text of known) changes.push(t('{person} took a decision back.', { person: nameOf(JSON.parse(text)[0]) }))
  const { round, state } = after.standing
  const place = round
    ? t('It is in {round} now.', { round: word(state) })
    : t('It is {state} now.', { state: word(state) })
  return sentences(...changes, state !== before.standing.state && place)
}

/** @param {Decision} decision */
const asText = ({ person, round, verb, comment }) => JSON.stringify([person, round, verb, comment])
