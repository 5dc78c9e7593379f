// Actions on many items at once: a dialog with a preview of what will change, the action, and its undo.

import { fill, h, part } from '../common/dom.js'
import { stateName } from '../common/filters.js'
import { number } from '../common/format.js'
import { Refused, getJSON, newKey, postJSON } from '../common/http.js'
import { t, tn } from '../common/language.js'
import { showError } from '../common/notices.js'
import { openPanel } from '../common/panels.js'
import { formOf } from './bulk_forms.js'
import { Selection, numbersOf, selectedCount, selectionWords } from './selection.js'

const PAUSE = 250 // ms after the last letter, before a preview is requested
const SLOW = 800 // ms after which an action shows how long it has taken

/** @typedef {import('./bulk_forms.js').BulkKind} BulkKind */

/** @typedef {Record<string, (count: number, n: string) => string>} Counting `n`: the number as it is shown */
/** The name of each action. @type {Counting} */
const VERBS = {
  reject: (count, n) => tn('Reject {n} item', 'Reject {n} items', count, { n }),
  assign: (count, n) => tn('Assign {n} item', 'Assign {n} items', count, { n }),
  unassign: (count, n) =>
    tn('Take back the assignment of {n} item', 'Take back the assignment of {n} items', count, { n }),
  batch: (count, n) => tn('Change the batch of {n} item', 'Change the batch of {n} items', count, { n }),
}

/** @type {Counting} */
const WILL = {
  reject: (count, n) => tn('{n} item will be rejected', '{n} items will be rejected', count, { n }),
  assign: (count, n) => tn('{n} item will be assigned', '{n} items will be assigned', count, { n }),
  unassign: (count, n) =>
    tn('The assignment of {n} item will be taken back', 'The assignments of {n} items will be taken back', count, {
      n,
    }),
  batch: (count, n) => tn('{n} item will be put into the batch', '{n} items will be put into the batch', count, { n }),
}

/**
 * Open the dialog of an action. If it is closed while the action is being done, its outcome is awaited.
 * @param {BulkKind} kind @param {Person} me @param {import('./selection.js').Selection} selection
 * @param {import('./bulk_forms.js').BulkChoices} choices
 * @returns {Promise<{id: number, items: number} | null>} what was done
 */
export async function openBulk(kind, me, selection, choices) {
  const body = selection.body()
  const { title, fields, read } = formOf(kind, me, choices)
  /** @type {Promise<any> | null} */
  let sending = null
  const done = await openPanel(title, (close, dialog) => {
    const submit = h('button', { type: 'submit', disabled: true }, t('Calculating …'))
    submit.className = kind === 'reject' ? 'danger' : 'primary'
    const preview = h('div.bulk-preview', { role: 'status' })
    const note = h('p.note.look', { hidden: true, role: 'alert' })
    const key = newKey()
    let token = ''
    let ticket = 0
    let soon

    const label = (/** @type {number} */ items, n = number(items)) => {
      submit.textContent = VERBS[kind](items, n)
    }

    const refresh = async () => {
      const mine = ++ticket
      const { action, missing } = read(new FormData(form))
      submit.disabled = true
      preview.classList.toggle('old', !missing)
      if (missing) {
        fill(preview, h('p.muted', missing))
        return label(selection.count, selectedCount(selection))
      }
      try {
        const previewed = await postJSON('/api/v1/bulk/preview', { selection: body, action })
        if (mine !== ticket) return undefined
        token = previewed.token
        fill(preview, previewWords(kind, previewed))
        label(previewed.items)
        submit.disabled = previewed.items === 0
      } catch (error) {
        if (mine !== ticket) return undefined
        const failed = h('p.note.look', { role: 'alert' })
        showError(failed, error)
        fill(preview, failed)
        label(0)
      }
      return preview.classList.remove('old')
    }

    const send = async () => {
      const { action } = read(new FormData(form))
      const mine = ticket
      note.hidden = true
      submit.disabled = true
      const stop = showProgress(preview)
      try {
        sending = postJSON('/api/v1/bulk', { selection: body, action, token, key })
        close(await sending)
      } catch (error) {
        if (!dialog.isConnected) return
        sending = null
        const isChanged = error instanceof Refused && error.kind === 'selection_changed'
        showError(note, error)
        if (isChanged)
          note.textContent = t(
            'Some of these items have changed since the preview, so nothing was done. This is the new preview:',
          )
        if (isChanged) await refresh()
        else if (mine === ticket) submit.disabled = false // else the preview of a later edit enables it
      } finally {
        stop()
      }
    }

    const form = h(
      'form.bulk-form',
      {
        onInput: ({ target }) => {
          clearTimeout(soon)
          ticket++ // a preview on its way is of another action
          submit.disabled = true
          soon = setTimeout(refresh, target.type === 'text' || target.tagName === 'TEXTAREA' ? PAUSE : 0)
        },
        onSubmit: (event) => {
          event.preventDefault()
          if (!submit.disabled) send()
        },
      },
      h('p.muted', selectionWords(selection)),
      fields,
      note,
      preview,
      h('footer', h('span.spring'), h('button', { onClick: () => close() }, t('Cancel')), submit),
    )
    dialog.classList.add('bulk')
    queueMicrotask(() => part(form, 'input').focus())
    refresh()
    return form
  })
  return done ?? sending
}

/** Assign one item, from where it is shown. @param {Person} me @param {number} id */
export async function assignItem(me, id) {
  const { assigned: people = [], names = {} } = await getJSON('/api/v1/facets')
  const selection = new Selection()
  selection.set([id], true)
  return openBulk('assign', me, selection, { people, names, batches: [] })
}

/** Show how long the action has taken, if it is slow. @param {HTMLElement} place @returns {() => void} ends it */
function showProgress(place) {
  const began = Date.now()
  const words = h('span')
  const bar = h('div.working', h('progress', { 'aria-label': t('In progress') }), words)
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

/** @param {string} kind @param {BulkPreview} previewed */
function previewWords(kind, { items, changes, left_out: leftOut }) {
  const name = (value) => (kind === 'reject' ? stateName(value) : value) || t('nothing')
  // What follows from the decisions of others is not told before the round is closed.
  const after = (value) => (kind === 'reject' && !value ? t('depends on what others decide') : name(value))
  const change = ({ from, to, items: n }) =>
    h('li', t('{n}: {from} → {to}', { n: number(n), from: name(from), to: after(to) }))
  const reason = ({ why, items: n, first }) =>
    h('li', `${number(n)} · ${why}`, first.length > 0 && [' (', numbersOf(first, n), ')'])
  const left = leftOut.reduce((sum, { items: n }) => sum + n, 0)
  const what = WILL[kind](items, number(items))
  return [
    h('p.will', h('strong', changes.length ? t('{what}:', { what }) : what)),
    h('ul', changes.map(change)),
    left > 0 && [
      h('p.left', h('strong', tn('{n} item is left out:', '{n} items are left out:', left, { n: number(left) }))),
      h('ul', leftOut.map(reason)),
    ],
  ]
}
