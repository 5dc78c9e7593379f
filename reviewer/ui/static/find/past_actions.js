// The list of past actions on many items, each with its undo.

import { fill, h } from '../common/dom.js'
import { dateAndTime, number } from '../common/format.js'
import { getJSON } from '../common/http.js'
import { t, tn, withCommas } from '../common/language.js'
import { showError } from '../common/notices.js'
import { openPanel } from '../common/panels.js'

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
      : withCommas(details.people ?? [])

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
        ? h('table.past', h('tbody', actions.map(row)))
        : h(
            'p.muted',
            t(
              'Nobody has changed many items at once yet. Select items in the table, then choose what to do with them.',
            ),
          ),
    )
  }
  /** @param {any} action */
  const row = (action) =>
    h(
      'tr',
      h('td', dateAndTime(action.at)),
      h('td', action.person),
      h('td', doneWords(action.kind, action.items), h('span.muted', ` ${aboutAction(me, action)}`)),
      h(
        'td',
        action.undone
          ? h('span.muted', t('undone'))
          : action.may_undo && h('button', { onClick: (e) => act(action.id, e.currentTarget) }, t('Undo')),
      ),
    )
  /** @param {number} id @param {HTMLButtonElement} button */
  const act = async (id, button) => {
    button.disabled = true
    note.hidden = true
    try {
      await undo(id).catch((error) => showError(note, error))
      await load()
    } catch (error) {
      showError(note, error)
    }
  }
  await load()
  return openPanel(t('Actions on many items'), h('div.past-actions', note, list), { wide: true })
}
