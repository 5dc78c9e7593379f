// The table of assigned items of the Progress tab.

import { h } from '../common/dom.js'
import { number } from '../common/format.js'
import { t, withCommas, word } from '../common/language.js'
import { STATES } from './charts.js'
import { queueLink, table } from './tables.js'

const DECIDED = ['approved', 'rejected', 'cannot tell']

export const assignedMeaning = () =>
  t('Items by the person to whom they are assigned. Anybody whom the rules allow may still decide them.')

/**
 * How many items are assigned to each person, and where they wait.
 * @param {Record<string, Record<string, number>>} people items by state
 */
export function assigned(people) {
  const rows = Object.entries(people).map(([person, states]) => {
    const sum = (/** @type {string[]} */ names) => names.reduce((items, name) => items + (states[name] ?? 0), 0)
    const open = STATES.filter((name) => states[name] && !DECIDED.includes(name))
    const title = t('Show the items of {person} in the queue', { person })
    const waiting = withCommas(open.map((name) => `${word(name)}\u00a0${number(states[name])}`))
    const all = h('strong', number(sum(Object.keys(states))))
    return [queueLink(person, { assigned: person }, title), all, waiting, number(sum(DECIDED))]
  })
  if (!rows.length) return t('No item is assigned to anybody.')
  return table([t('Person'), t('Assigned'), t('Waiting in'), t('Decided')], null, rows)
}
