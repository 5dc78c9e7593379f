// What each round of the review is for, in one sentence, with the numbers of this campaign.

import { h } from '../common/dom.js'
import { t, tn, withParts } from '../common/language.js'

/** @param {Person['rules']} rules @returns {[string, string][]} name and sentence of each round */
function rounds({ solo, auditors, votes, approve_at: approve, reject_at: reject }) {
  const audit = solo
    ? tn(
        'One person checks the submitted version: pass, return to revision, or reject.',
        '{n} people check the submitted version: pass, return to revision, or reject.',
        auditors,
      )
    : tn(
        'One person checks the submitted version, none of them its author and none seeing the others’ decisions: ' +
          'pass, return to revision, or reject.',
        '{n} people check the submitted version, none of them its author and none seeing the others’ decisions: ' +
          'pass, return to revision, or reject.',
        auditors,
      )
  const vote =
    votes === 1
      ? t('One person votes on the version that passed: this vote decides.')
      : t(
          '{votes} people vote on the version that passed: {approve} to approve make it approved, {reject} to reject ' +
            'make it rejected.',
          { votes, approve, reject },
        )
  return [
    [
      t('Screening'),
      t('One person reads the draft and keeps it if it is worth revising, or rejects it with a reason.'),
    ],
    [
      t('Revision'),
      t('One person corrects text, windows and answer until every sentence agrees with the data, and submits.'),
    ],
    [t('Audit'), audit],
    [t('Vote'), vote],
    [
      t('Adjudication'),
      t(
        'Where audits or votes do not agree, one person who has not judged the item yet approves, rejects or ' +
          'returns it.',
      ),
    ],
  ]
}

/** @param {Person['rules']} rules */
export function roundsElements(rules) {
  return h(
    'div.rounds',
    h('p.muted', t('An item passes these rounds in this order. Only approved items are exported as training data.')),
    h(
      'ol',
      rounds(rules).map(([name, sentence]) =>
        h('li', withParts(t('{name} – {what}'), { name: h('strong', name), what: sentence })),
      ),
    ),
    rules.solo && h('p.muted', t('You work alone: you may do every round of an item yourself.')),
  )
}
