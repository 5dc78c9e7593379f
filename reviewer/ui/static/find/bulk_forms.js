// What the dialogs of actions on many items ask for.

import { h } from '../common/dom.js'
import { withName } from '../common/filters.js'
import { t } from '../common/language.js'

/** @typedef {'reject' | 'assign' | 'unassign' | 'batch'} BulkKind */

/**
 * What a dialog asks for, and its words.
 * @typedef {Object} Form
 * @property {string} title
 * @property {import('../common/dom.js').Child} fields
 * @property {() => {action: any, missing: string}} read the action, and what is missing in it
 * @property {HTMLElement | null} first the field with the focus
 */

/**
 * Values to choose from.
 * @typedef {Object} BulkChoices
 * @property {string[]} people to whom items can be assigned, by initials
 * @property {Record<string, string>} names of these people, and of others to whom items are assigned
 * @property {string[]} batches
 */

/**
 * @param {BulkKind} kind @param {Person} me @param {BulkChoices} choices @returns {Form}
 */
export function formOf(kind, me, { people, names, batches }) {
  if (kind === 'reject') return rejectForm(me.reasons)
  if (kind === 'batch') return batchForm(batches)
  return peopleForm(kind, kind === 'assign' ? people : Object.keys(names), names)
}

/** @param {Record<string, string>} labels of the reasons @returns {Form} */
function rejectForm(labels) {
  const reasons = Object.entries(labels).map(([value, label]) => ({
    label,
    input: h('input', { type: 'radio', name: 'reason', value }),
  }))
  const comment = h('textarea', {
    rows: 2,
    'aria-label': t('Comment'),
    placeholder: t('in your own words (needed for “Other”); it is stored with each item'),
  })
  return {
    title: t('Reject the selected items: why?'),
    fields: [
      h(
        'fieldset.choices',
        h('legend', t('Reason')),
        ...reasons.map(({ label, input }) => h('label', input, ` ${label}`)),
      ),
      comment,
    ],
    first: reasons[0]?.input ?? null,
    read: () => {
      const reason = reasons.find(({ input }) => input.checked)?.input.value ?? ''
      const text = comment.value.trim()
      const missing = !reason
        ? t('Choose a reason to see what will change.')
        : reason === 'other' && !text
          ? t('Give the reason in a few words.')
          : ''
      return { action: { kind: 'reject', reason, comment: text }, missing }
    },
  }
}

/**
 * @param {'assign' | 'unassign'} kind @param {string[]} initials @param {Record<string, string>} names
 * @returns {Form}
 */
function peopleForm(kind, initials, names) {
  const people = initials.map((value) => ({ value, input: h('input', { type: 'checkbox', name: 'people', value }) }))
  const assigning = kind === 'assign'
  return {
    title: assigning ? t('Assign the selected items') : t('Take back assignments of the selected items'),
    fields: [
      h(
        'p',
        assigning
          ? t('Each item is assigned to everybody whom you choose. It is advice: others may still decide.')
          : t('The selected items are no longer assigned to these people.'),
      ),
      h(
        'fieldset.choices.people',
        h('legend', t('People')),
        ...people.map(({ value, input }) => h('label', input, ` ${withName(value, names[value])}`)),
      ),
    ],
    first: people[0]?.input ?? null,
    read: () => {
      const chosen = people.filter(({ input }) => input.checked).map(({ value }) => value)
      return { action: { kind, people: chosen }, missing: chosen.length ? '' : t('Choose one or more people.') }
    },
  }
}

/** @param {string[]} batches @returns {Form} */
function batchForm(batches) {
  const name = h('input', { type: 'text', name: 'batch', autocomplete: 'off', maxLength: 200, list: 'so-batches' })
  return {
    title: t('Put the selected items into a batch'),
    fields: [
      h('label.field', t('Batch: a new name, or one that exists'), name),
      h('datalist', { id: 'so-batches' }, ...batches.map((value) => h('option', { value }))),
    ],
    first: name,
    read: () => {
      const batch = name.value.trim()
      return { action: { kind: 'batch', batch }, missing: batch ? '' : t('Type the name of the batch.') }
    },
  }
}
