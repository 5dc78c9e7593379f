// What the dialogs of actions on many items ask for.

import { h } from '../common/dom.js'
import { withName } from '../common/filters.js'
import { t } from '../common/language.js'

/** @typedef {'reject' | 'assign' | 'unassign' | 'batch'} BulkKind */

/**
 * What a dialog asks for, and its words.
 * @typedef {Object} Form
 * @property {string} title
 * @property {import('../common/dom.js').Child} fields the first one gets the focus
 * @property {(data: FormData) => {action: any, missing: string}} read the action, and what is missing in it
 */

/**
 * Values to choose from: `people` to whom items can be assigned, by initials; `names` of these people, and of others to
 * whom items are assigned.
 * @typedef {{people: string[], names: Record<string, string>, batches: string[]}} BulkChoices
 */

/** @param {BulkKind} kind @param {Person} me @param {BulkChoices} choices @returns {Form} */
export function formOf(kind, me, { people, names, batches }) {
  if (kind === 'reject') return rejectForm(me.reasons)
  if (kind === 'batch') return batchForm(batches)
  return peopleForm(kind, kind === 'assign' ? people : Object.keys(names), names)
}

const choice = (type, name, value, text) => h('label', h('input', { type, name, value }), ` ${text}`)

/** @param {Record<string, string>} labels of the reasons @returns {Form} */
function rejectForm(labels) {
  const reasons = Object.entries(labels).map(([value, label]) => choice('radio', 'reason', value, label))
  const placeholder = t('in your own words (needed for “Other”); it is stored with each item')
  return {
    title: t('Reject the selected items: why?'),
    fields: [
      h('fieldset.choices', h('legend', t('Reason')), reasons),
      h('textarea', { name: 'comment', rows: 2, 'aria-label': t('Comment'), placeholder }),
    ],
    read: (data) => {
      const reason = data.get('reason') ?? ''
      const comment = String(data.get('comment')).trim()
      const action = { kind: 'reject', reason, comment }
      if (!reason) return { action, missing: t('Choose a reason to see what will change.') }
      return { action, missing: reason === 'other' && !comment ? t('Give the reason in a few words.') : '' }
    },
  }
}

/** @param {'assign' | 'unassign'} kind @param {string[]} people by initials @returns {Form} */
function peopleForm(kind, people, names) {
  const isAssignment = kind === 'assign'
  const about = isAssignment
    ? t('Each item is assigned to everybody whom you choose. It is advice: others may still decide.')
    : t('The selected items are no longer assigned to these people.')
  const choices = people.map((value) => choice('checkbox', 'people', value, withName(value, names[value])))
  return {
    title: isAssignment ? t('Assign the selected items') : t('Take back assignments of the selected items'),
    fields: [h('p', about), h('fieldset.choices.people', h('legend', t('People')), choices)],
    read: (data) => {
      const chosen = data.getAll('people')
      return { action: { kind, people: chosen }, missing: chosen.length ? '' : t('Choose one or more people.') }
    },
  }
}

/** @param {string[]} batches @returns {Form} */
function batchForm(batches) {
  const field = { type: 'text', name: 'batch', autocomplete: 'off', maxLength: 200, list: 'so-batches' }
  return {
    title: t('Put the selected items into a batch'),
    fields: [
      h('label.field', t('Batch: a new name, or one that exists'), h('input', field)),
      h('datalist', { id: 'so-batches' }, ...batches.map((value) => h('option', { value }))),
    ],
    read: (data) => {
      const batch = String(data.get('batch')).trim()
      return { action: { kind: 'batch', batch }, missing: batch ? '' : t('Type the name of the batch.') }
    },
  }
}
