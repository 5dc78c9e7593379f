// The table of assigned items of the Progress tab.

import { h } from '../common/dom.js'
import { number } from '../common/format.js'
import { t } from '../common/language.js'
import { openTab } from '../common/tabs.js'
import { table } from './tables.js'

const DECIDED = ['approved', 'rejected', 'cannot tell']

export const assignedTitle = () => t('Assigned')
export const assignedMeaning = () =>
  t('Items by the person to whom they are assigned. Anybody whom the rules allow may still decide them.')

/** Rounds with their states: an item that was returned waits in revision. */
const rounds = () => [
  { name: t('Screening'), states: ['screening'] },
  { name: t('Revision'), states: ['revision', 'returned'] },
  { name: t('Audit'), states: ['audit'] },
  { name: t('Vote'), states: ['vote'] },
  { name: t('Adjudication'), states: ['adjudication'] },
]

/**
 * How many items are assigned to each person, and where they wait.
 * @param {Record<string, Record<string, number>>} people items by state
 */
export function assigned(people) {
  const rows = Object.entries(people).map(([person, states]) => {
    const of = (names) => names.reduce((sum, name) => sum + (states[name] ?? 0), 0)
    const all = Object.values(states).reduce((sum, items) => sum + items, 0)
    const waiting = rounds()
      .filter((round) => of(round.states))
      .map((round) => `${round.name}\u00a0${number(of(round.states))}`)
    return [link(person), h('strong', {}, number(all)), waiting.join(', '), number(of(DECIDED))]
  })
  if (!rows.length) return h('p.none', {}, t('No item is assigned to anybody.'))
  return table([t('Person'), t('Assigned'), t('Waiting in'), t('Decided')], [1, 3], null, rows)
}

/** Opens the list of a person's items. */
function link(person) {
  const title = t('Show the items of {person} in the queue', { person })
  return h('button.link', { type: 'button', title, onClick: () => show(person) }, person)
}

function show(person) {
  openTab('review')
  window.specO3?.review?.queue.use({ assigned: person })
}
