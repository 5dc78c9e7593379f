// Actions on many items at once: a dialog with a preview of what will change, the action, and its undo.

import { fill, h } from '../common/dom.js'
import { stateName } from '../common/filters.js'
import { number } from '../common/format.js'
import { Refused, getJSON, newKey, postJSON } from '../common/http.js'
import { t, tn } from '../common/language.js'
import { openPanel } from '../common/panels.js'
import { numbersOf, selectionWords } from './selection.js'

const PAUSE = 250 // ms after the last letter, before a preview is requested
const SLOW = 800 // ms after which an action shows how long it has taken

/** @typedef {'reject' | 'assign' | 'unassign' | 'batch'} BulkKind */

/**
 * What a dialog asks for, and its words.
 * @typedef {Object} Form
 * @property {string} title
 * @property {import('../common/dom.js').Child} fields
 * @property {() => {action: any, missing: string}} read the action, and what is missing in it
 * @property {HTMLElement | null} first the field with the focus
 */

/** The name of each action, with the number of items. @type {Record<string, (n: number) => string>} */
const VERBS = {
  reject: (n) => tn('Reject {n} item', 'Reject {n} items', n, { n: number(n) }),
  assign: (n) => tn('Assign {n} item', 'Assign {n} items', n, { n: number(n) }),
  unassign: (n) =>
    tn('Take back the assignment of {n} item', 'Take back the assignment of {n} items', n, { n: number(n) }),
  batch: (n) => tn('Change the batch of {n} item', 'Change the batch of {n} items', n, { n: number(n) }),
}

/** @type {Record<string, (n: number) => string>} */
const WILL = {
  reject: (n) => tn('{n} item will be rejected', '{n} items will be rejected', n, { n: number(n) }),
  assign: (n) => tn('{n} item will be assigned', '{n} items will be assigned', n, { n: number(n) }),
  unassign: (n) =>
    tn('The assignment of {n} item will be taken back', 'The assignments of {n} items will be taken back', n, {
      n: number(n),
    }),
  batch: (n) => tn('{n} item will be put into the batch', '{n} items will be put into the batch', n, { n: number(n) }),
}

/** @type {Record<string, (n: number) => string>} */
const DONE = {
  reject: (n) => tn('{n} item is rejected.', '{n} items are rejected.', n, { n: number(n) }),
  assign: (n) => tn('{n} item is assigned.', '{n} items are assigned.', n, { n: number(n) }),
  unassign: (n) =>
    tn('The assignment of {n} item is taken back.', 'The assignments of {n} items are taken back.', n, {
      n: number(n),
    }),
  batch: (n) => tn('{n} item is in the new batch.', '{n} items are in the new batch.', n, { n: number(n) }),
}

/** What was done, in words. @param {string} kind @param {number} n */
export const doneWords = (kind, n) => DONE[kind]?.(n) ?? `${kind} ${n}`

export class BulkDialogs {
  /**
   * @param {Person} me
   * @param {import('./selection.js').Selection} selection
   * @param {{people: () => string[], batches: () => string[]}} values to choose from
   */
  constructor(me, selection, values) {
    this.me = me
    this.selection = selection
    this.values = values
  }

  /** Open the dialog of an action. @param {BulkKind} kind @returns {Promise<{id: number, items: number} | null>} */
  open(kind) {
    const body = this.selection.body()
    const form = this.#form(kind)
    return openPanel(form.title, (close, dialog) => {
      const submit = h('button.primary', { type: 'submit', disabled: true }, t('Calculating …'))
      if (kind === 'reject') submit.className = 'danger'
      const preview = h('div.bulk-preview', { role: 'status' })
      const note = h('p.note.look', { hidden: true, role: 'alert' })
      const key = newKey()
      let token = ''
      let ticket = 0
      /** @type {ReturnType<typeof setTimeout> | undefined} */
      let soon

      /** @param {string} text */
      const warn = (text) => {
        note.hidden = !text
        note.textContent = text
      }

      const refresh = async () => {
        const mine = ++ticket
        const { action, missing } = form.read()
        submit.disabled = true
        if (missing) {
          fill(preview, h('p.muted', {}, missing))
          submit.textContent = VERBS[kind](this.selection.count)
          return
        }
        preview.classList.add('old')
        try {
          const found = await postJSON('/api/v1/bulk/preview', { selection: body, action })
          if (mine !== ticket) return
          token = found.token
          fill(preview, previewWords(kind, found))
          submit.textContent = VERBS[kind](found.items)
          submit.disabled = found.items === 0
        } catch (error) {
          if (mine !== ticket) return
          fill(preview, h('p.note.look', { role: 'alert' }, error.message))
          submit.textContent = VERBS[kind](0)
          if (!error.kind) console.error(error)
        } finally {
          if (mine === ticket) preview.classList.remove('old')
        }
      }

      const send = async () => {
        const { action } = form.read()
        warn('')
        submit.disabled = true
        const stop = showProgress(preview)
        try {
          close({ ...(await postJSON('/api/v1/bulk', { selection: body, action, token, key })), kind })
        } catch (error) {
          stop()
          if (error instanceof Refused && error.kind === 'selection_changed') {
            warn(t('Some of these items have changed since the preview, so nothing was done. This is the new preview:'))
            await refresh()
            return
          }
          warn(error.message)
          submit.disabled = false
          if (!error.kind) console.error(error)
        }
      }

      dialog.classList.add('bulk')
      queueMicrotask(() => form.first?.focus())
      refresh()
      return h(
        'form.bulk-form',
        {
          onInput: (/** @type {any} */ event) => {
            clearTimeout(soon)
            submit.disabled = true
            soon = setTimeout(refresh, event.target.type === 'text' || event.target.tagName === 'TEXTAREA' ? PAUSE : 0)
          },
          onSubmit: (/** @type {Event} */ event) => {
            event.preventDefault()
            if (!submit.disabled) send()
          },
        },
        h('p.muted', {}, selectionWords(this.selection)),
        form.fields,
        note,
        preview,
        h('footer', {}, h('span.spring'), h('button', { type: 'button', onClick: () => close() }, t('Cancel')), submit),
      )
    })
  }

  /** @param {BulkKind} kind @returns {Form} */
  #form(kind) {
    if (kind === 'reject') return this.#rejectForm()
    return kind === 'batch' ? this.#batchForm() : this.#peopleForm(kind)
  }

  /** @returns {Form} */
  #rejectForm() {
    const reasons = Object.entries(this.me.reasons).map(([value, label]) => ({
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
          {},
          h('legend', {}, t('Reason')),
          reasons.map(({ label, input }) => h('label', {}, input, ` ${label}`)),
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

  /** @param {'assign' | 'unassign'} kind @returns {Form} */
  #peopleForm(kind) {
    const people = this.values
      .people()
      .map(({ initials, name }) => ({
        initials,
        name,
        input: h('input', { type: 'checkbox', name: 'people', value: initials }),
      }))
    const assigning = kind === 'assign'
    return {
      title: assigning ? t('Assign the selected items') : t('Take back assignments of the selected items'),
      fields: [
        h(
          'p',
          {},
          assigning
            ? t('Each item is assigned to everybody whom you choose. It is advice: others may still decide.')
            : t('The selected items are no longer assigned to these people.'),
        ),
        h(
          'fieldset.choices.people',
          {},
          h('legend', {}, t('People')),
          people.map(({ initials, input }) => h('label', {}, input, ` ${initials}`)),
        ),
      ],
      first: people[0]?.input ?? null,
      read: () => {
        const chosen = people.filter(({ input }) => input.checked).map(({ initials }) => initials)
        return { action: { kind, people: chosen }, missing: chosen.length ? '' : t('Choose one or more people.') }
      },
    }
  }

  /** @returns {Form} */
  #batchForm() {
    const name = h('input', { type: 'text', name: 'batch', autocomplete: 'off', maxLength: 200, list: 'so-batches' })
    return {
      title: t('Put the selected items into a batch'),
      fields: [
        h('label.field', {}, t('Batch: a new name, or one that exists'), name),
        h(
          'datalist',
          { id: 'so-batches' },
          this.values.batches().map((value) => h('option', { value })),
        ),
      ],
      first: name,
      read: () => {
        const batch = name.value.trim()
        return { action: { kind: 'batch', batch }, missing: batch ? '' : t('Type the name of the batch.') }
      },
    }
  }
}

/**
 * Show how long the action has taken, if it is slow.
 * @param {HTMLElement} place @returns {() => void} ends it
 */
function showProgress(place) {
  const began = Date.now()
  const words = h('span')
  const bar = h('div.working', {}, h('progress', { 'aria-label': t('In progress') }), words)
  const timer = setInterval(() => {
    const seconds = Math.round((Date.now() - began) / 1000)
    words.textContent = tn(
      'In progress for {n} second. All items change together, or none.',
      'In progress for {n} seconds. All items change together, or none.',
      seconds,
    )
    if (!bar.isConnected && Date.now() - began >= SLOW) place.append(bar)
  }, 200)
  return () => {
    clearInterval(timer)
    bar.remove()
  }
}

/**
 * @param {string} kind
 * @param {{items: number, changes: {from: string, to: string, items: number}[],
 *   left_out: {why: string, items: number, first: number[]}[]}} found
 */
function previewWords(kind, { items, changes, left_out: leftOut }) {
  const name = (/** @type {string} */ value) => (kind === 'reject' ? stateName(value) : value) || t('nothing')
  // What follows from the decisions of others is not told before the round is closed.
  const after = (/** @type {string} */ value) =>
    kind === 'reject' && !value ? t('depends on what others decide') : name(value)
  const left = leftOut.reduce((sum, one) => sum + one.items, 0)
  return [
    h('p.will', {}, h('strong', {}, WILL[kind](items)), changes.length ? ':' : ''),
    h(
      'ul',
      {},
      changes.map(({ from, to, items: n }) =>
        h('li', {}, t('{n}: {from} → {to}', { n: number(n), from: name(from), to: after(to) })),
      ),
    ),
    left > 0 &&
      h(
        'p.left',
        {},
        h('strong', {}, tn('{n} item is left out:', '{n} items are left out:', left, { n: number(left) })),
      ),
    left > 0 &&
      h(
        'ul',
        {},
        leftOut.map(({ why, items: n, first }) =>
          h('li', {}, `${number(n)} · ${why}`, first.length > 0 && [' (', numbersOf(first, n), ')']),
        ),
      ),
  ]
}

/** @param {string} iso */
const when = (iso) => new Date(iso).toLocaleString('sv').slice(0, 16)

/**
 * What an action was about: the reason, the people, or the batch.
 * @param {Person} me @param {{kind: string, details: any}} action
 */
const aboutAction = (me, { kind, details }) =>
  kind === 'reject'
    ? [me.reasons[details.reason] ?? details.reason, details.comment && `“${details.comment}”`]
        .filter(Boolean)
        .join(', ')
    : kind === 'batch'
      ? details.batch
      : (details.people ?? []).join(', ')

/** Whether this person decides items in any round. @param {Person} me */
export const mayReject = (me) =>
  me.rules.solo || ['reviewer', 'auditor', 'coordinator'].some((role) => me.roles.includes(role))

/** Whether this person may assign items and change batches. @param {Person} me */
export const mayChange = (me) => me.rules.solo || me.roles.includes('coordinator')

/**
 * The list of past actions on many items, each with its undo.
 * @param {Person} me @param {(id: number) => Promise<void>} undo
 */
export async function openPast(me, undo) {
  const list = h('div')
  const note = h('p.note.look', { hidden: true, role: 'alert' })
  const load = async () => {
    const actions = (await getJSON('/api/v1/bulk')).actions.filter(({ kind }) => kind !== 'undo')
    fill(
      list,
      actions.length
        ? h('table.past', {}, h('tbody', {}, actions.map(row)))
        : h(
            'p.muted',
            {},
            t(
              'Nobody has changed many items at once yet. Select items in the table, then choose what to do with them.',
            ),
          ),
    )
  }
  /** @param {any} one */
  const row = (one) =>
    h(
      'tr',
      {},
      h('td', {}, when(one.at)),
      h('td', {}, one.person),
      h('td', {}, doneWords(one.kind, one.items), h('span.muted', {}, ` ${aboutAction(me, one)}`)),
      h(
        'td',
        {},
        one.undone
          ? h('span.muted', {}, t('undone'))
          : one.may_undo &&
              h('button', { type: 'button', onClick: (e) => act(one.id, e.currentTarget) }, t('Undo')),
      ),
    )
  /** @param {number} id @param {HTMLButtonElement} button */
  const act = async (id, button) => {
    button.disabled = true
    note.hidden = true
    try {
      await undo(id)
    } catch (error) {
      note.hidden = false
      note.textContent = error.message
      if (!error.kind) console.error(error)
    }
    await load()
  }
  await load()
  return openPanel(t('Actions on many items'), h('div.past-actions', {}, note, list), { wide: true })
}
