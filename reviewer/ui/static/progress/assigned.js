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

/** States that count in a round: an item that was returned waits in revision. */
const ROUNDS = [['screening'], ['revision', 'returned'], ['audit'], ['vote'], ['adjudication']]

/**
 * How many items are assigned to each person, and where they wait.
 * @param {Record<string, Record<string, number>>} people items by state
 */
export function assigned(people) {
  const rows = Object.entries(people).map(([person, states]) => {
    const of = (names) => names.reduce((sum, name) => sum + (states[name] ?? 0), 0)
    const all = Object.values(states).reduce((sum, items) => sum + items, 0)
    return [
      link(person),
      h('strong', {}, number(all)),
      ...ROUNDS.map((names) => number(of(names))),
      number(of(DECIDED)),
    ]
  })
  if (!rows.length) return h('p.none', {}, t('No item is assigned to anybody.'))
  const rounds = [t('Screening'), t('Revision'), t('Audit'), t('Vote'), t('Adjudication')]
  const heads = [t('Person'), t('Assigned'), ...rounds, t('Decided')]
  return table(heads, heads.map((_, i) => i).slice(1), null, rows)
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
