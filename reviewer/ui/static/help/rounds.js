// What each round of the review is for, in one sentence, with the numbers of this campaign.

import { h } from '../common/dom.js'

/** @param {number} n @param {string} one @param {string} many */
const people = (n, one, many) => (n === 1 ? `One person ${one}` : `${n} people ${many}`)

/** @param {Person['rules']} rules @returns {[string, string][]} name and sentence of each round */
function sentences({ solo, auditors, votes, approve_at: approve, reject_at: reject }) {
  const apart = solo ? '' : ', none of them its author and none seeing the others’ decisions'
  const outcome =
    votes === 1 ? 'this vote decides' : `${approve} to approve make it approved, ${reject} to reject make it rejected`
  return [
    ['Screening', 'One person reads the draft and keeps it if it is worth revising, or rejects it with a reason.'],
    [
      'Revision',
      'One person corrects text, windows and answer until every sentence agrees with the data, and submits.',
    ],
    [
      'Audit',
      `${people(auditors, 'checks', 'check')} the submitted version${apart}: pass, return to revision, or reject.`,
    ],
    ['Vote', `${people(votes, 'votes', 'vote')} on the version that passed: ${outcome}.`],
    [
      'Adjudication',
      'Where audits or votes do not agree, one person who has not judged the item yet approves, rejects or returns it.',
    ],
  ]
}

/** @param {Person['rules']} rules */
export function roundsElements(rules) {
  return h(
    'div.rounds',
    {},
    h('p.muted', {}, 'An item passes these rounds in this order. Only approved items are exported as training data.'),
    h(
      'ol',
      {},
      sentences(rules).map(([name, sentence]) => h('li', {}, h('strong', {}, name), ` – ${sentence}`)),
    ),
    rules.solo && h('p.muted', {}, 'You work alone: you may do every round of an item yourself.'),
  )
}
