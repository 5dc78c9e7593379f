// The list of past actions on many items, each with its undo.

import { fill, h } from '../common/dom.js'
import { dateAndTime, number } from '../common/format.js'
import { getJSON } from '../common/http.js'
import { t, tn, withCommas } from '../common/language.js'
import { showError } from '../common/notices.js'
import { openPanel } from '../common/panels.js'

/** @type {import('./bulk.js').Counting} */
const DONE = {
  reject: (count, n) => tn('{n} item is rejected.', '{n} items are rejected.', count, { n }),
  assign: (count, n) => tn('{n} item is assigned.', '{n} items are assigned.', count, { n }),
  unassign: (count, n) =>
    tn('The assignment of {n} item is taken back.', 'The assignments of {n} items are taken back.', count, { n }),
  batch: (count, n) => tn('{n} item is in the new batch.', '{n} items are in the new batch.', count, { n }),
}

/** What was done, in words. @param {string} kind @param {number} n */
export const doneWords = (kind, n) => DONE[kind]?.(n, number(n)) ?? `${kind} ${n}`

/** What an action was about: the reason, the people, or the batch. @param {Person} me */
function aboutAction(me, { kind, details }) {
  if (kind === 'batch') return details.batch
  if (kind !== 'reject') return withCommas(details.people ?? [])
  const { reason, comment } = details
  return [me.reasons[reason] ?? reason, comment && `“${comment}”`].filter(Boolean).join(', ')
}

/**
 * The list of past actions on many items, each with its undo.
 * @param {Person} me @param {(id: number) => Promise<void>} undo
 */
export async function openPast(me, undo) {
  const list = h('div')
  const note = h('p.note.look', { hidden: true, role: 'alert' })
  const none = t(
    'Nobody has changed many items at once yet. Select items in the table, then choose what to do with them.',
  )
  const load = async () => {
    const actions = (await getJSON('/api/v1/bulk')).actions.filter(({ kind }) => kind !== 'undo')
    fill(list, actions.length ? h('table.past', h('tbody', actions.map(row))) : h('p.muted', none))
  }
  const row = (action) => {
    const { id, at, person, kind, items, undone, may_undo: mayUndo } = action
    const button = h('button', { onClick: () => act(id, button) }, t('Undo'))
    return h(
      'tr',
      h('td', dateAndTime(at)),
      h('td', person),
      h('td', doneWords(kind, items), h('span.muted', ` ${aboutAction(me, action)}`)),
      h('td', undone ? h('span.muted', t('undone')) : mayUndo && button),
    )
  }
  /** @param {number} id @param {HTMLButtonElement} button */
  const act = async (id, button) => {
    button.disabled = true
    note.hidden = true
    await undo(id).catch((error) => showError(note, error))
    await load().catch((error) => showError(note, error))
  }
  await load()
  return openPanel(t('Actions on many items'), h('div.past-actions', note, list), { wide: true })
}
