// What each round of the review is for, in one sentence, with the numbers of this campaign.

import { h } from '../common/dom.js'
import { t, tn, withParts } from '../common/language.js'
import { openPanel } from '../common/panels.js'

/** @param {Person['rules']} rules */
function auditSentence({ solo, auditors }) {
  if (solo)
    return tn(
      'One person checks the submitted version: pass, return to revision, or reject.',
      '{n} people check the submitted version: pass, return to revision, or reject.',
      auditors,
    )
  return tn(
    'One person checks the submitted version, none of them its author and none seeing the others’ decisions: ' +
      'pass, return to revision, or reject.',
    '{n} people check the submitted version, none of them its author and none seeing the others’ decisions: ' +
      'pass, return to revision, or reject.',
    auditors,
  )
}

/** @param {Person['rules']} rules */
function voteSentence({ votes, approve_at: approve, reject_at: reject }) {
  if (votes === 1) return t('One person votes on the version that passed: this vote decides.')
  return t(
    '{votes} people vote on the version that passed: {approve} to approve make it approved, {reject} to reject ' +
      'make it rejected.',
    { votes, approve, reject },
  )
}

/** @param {Person['rules']} rules */
export function openRounds(rules) {
  const screening = t('One person reads the draft and keeps it if it is worth revising, or rejects it with a reason.')
  const revision = t(
    'One person corrects text, windows and answer until every sentence agrees with the data, and submits.',
  )
  const adjudication = t(
    'Where audits or votes do not agree, one person who has not judged the item yet approves, rejects or returns it.',
  )
  const item = (/** @type {string} */ name, /** @type {string} */ what) =>
    h('li', withParts(t('{name} – {what}'), { name: h('strong', name), what }))
  const content = h(
    'div.rounds',
    h('p.muted', t('An item passes these rounds in this order. Only approved items are exported as training data.')),
    h(
      'ol',
      item(t('Screening'), screening),
      item(t('Revision'), revision),
      item(t('Audit'), auditSentence(rules)),
      item(t('Vote'), voteSentence(rules)),
      item(t('Adjudication'), adjudication),
    ),
    rules.solo && h('p.muted', t('You work alone: you may do every round of an item yourself.')),
  )
  return openPanel(t('The five rounds'), content)
}
