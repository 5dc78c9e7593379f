// The Progress tab: its numbers are fetched whenever the tab becomes visible, and drawn with plotly.js.

import { t, withCommas, word } from '../common/language.js'
import { fill, h } from '../common/dom.js'
import { number, redshift, timeWithSeconds } from '../common/format.js'
import { getJSON } from '../common/http.js'
import { button, mountPage, table } from '../common/page.js'
import { onTheme } from '../common/theme.js'
import { mayReadLog, openAuditLog } from './audit_log.js'
import { Chart } from './chart_card.js'
import { byPerson, byTask, decidedPerDay, OUTCOMES, perDay, STATES, sum } from './charts.js'
import { mineElements } from './mine.js'
import { Card, defined, estimate, options, queueLink } from './tables.js'

const TASKS_MEANING = t(
  'Every item is in exactly one state. Open states are rounds still to be done; the others are final.',
)
const PEOPLE_MEANING = t(
  'Decisions in force by who made them and in which round. A decision that was undone is left out; one on an earlier ' +
    'version is counted. Versions are texts this person wrote.',
)
const DAYS_MEANING = t('Decisions in force by the UTC day on which they were made.')
const DECIDED_MEANING = t(
  'Items by the UTC day on which they were decided. The line is the yield until then: approved / ' +
    '(approved + rejected).',
)
const ASSIGNED_MEANING = t(
  'Items by the person to whom they are assigned. Anybody whom the rules allow may still decide them.',
)

/** Put the tab's content into `root`. */
export function mountProgress(root) {
  const page = mountPage(root, (place) => new ProgressPage(place))
  if (page) onTheme(() => page.draw())
}

class ProgressPage {
  #trust = /** @type {import('./trust.js').TrustSection | null} */ (null)

  constructor(root) {
    this.figures = null
    this.lastRequest = 0
    const onChange = () => this.refresh()
    this.task = h('select', { 'aria-label': t('Task'), onChange })
    this.batch = h('select', { 'aria-label': t('Batch'), onChange })
    const log = h('button', { hidden: true, onClick: openAuditLog }, t('Audit log …'))
    getJSON('/api/v1/me').then(
      (me) => (log.hidden = !mayReadLog(me)),
      () => {},
    )
    this.asof = h('span.asof', { role: 'status' })
    this.mine = h('div.mine')
    this.tiles = h('dl.tiles')
    this.empty = h('div.empty', { hidden: true })
    this.charts = [
      new Chart(t('Items by task and state'), TASKS_MEANING, byTask),
      new Chart(t('Decisions by reviewer'), PEOPLE_MEANING, byPerson),
      new Chart(t('Decisions per day'), DAYS_MEANING, perDay),
      new Chart(t('Approved and rejected per day'), DECIDED_MEANING, decidedPerDay),
    ]
    this.time = new Card(t('Time per item'))
    this.assigned = new Card(t('Assigned'), ASSIGNED_MEANING)
    this.agreement = new AgreementCards()
    const cards = [...this.charts, ...this.agreement.cards, this.time, this.assigned].map((card) => card.root)
    this.grid = h('div.charts', cards)
    this.trustPlace = h('div') // below the charts, so it can load after them
    const fields = [h('label', t('Task'), this.task), h('label', t('Batch'), this.batch)]
    const bar = h('div.bar', fields, button(t('Refresh'), onChange), log, this.asof)
    fill(root, bar, this.mine, this.tiles, this.empty, this.grid, this.trustPlace)
    this.#choices({}, [])
  }

  /** The filter, as the server and the queue have it. @returns {Record<string, string>} */
  get #filter() {
    return {
      ...(this.task.value && { task: this.task.value }),
      ...(this.batch.value !== '*' && { batch: this.batch.value }),
    }
  }

  /** Fetch and draw. Of two requests in progress the later one counts, whichever is answered first. */
  async refresh() {
    const request = ++this.lastRequest
    const query = new URLSearchParams(this.#filter)
    try {
      const figures = await getJSON(`/api/v1/progress?${query}`)
      if (request !== this.lastRequest) return
      this.figures = figures
      this.#choices(figures.tasks, figures.batches)
      this.asof.classList.remove('late')
      this.asof.textContent = t('as of {toLocaleTimeString}', { toLocaleTimeString: timeWithSeconds(figures.at) })
      this.draw()
      await this.#refreshAgreement(query, request)
      if (request === this.lastRequest) await this.#refreshTrust()
    } catch (error) {
      if (request !== this.lastRequest) return
      this.asof.classList.add('late')
      this.asof.textContent = t('Not refreshed: {message}', { message: error.message })
    }
  }

  /** Fetch the agreement. Its intervals can take seconds; the charts do not wait for them. */
  async #refreshAgreement(query, request) {
    try {
      const figures = await getJSON(`/api/v1/progress/agreement?${query}`)
      if (request === this.lastRequest) this.agreement.show(figures)
    } catch (error) {
      if (request === this.lastRequest) this.agreement.say(error.message)
    }
  }

  /** Load the Trust section after everything else; it fetches its numbers when it comes into view. */
  async #refreshTrust() {
    if (this.#trust) return this.#trust.expire()
    const { TrustSection } = await import('./trust.js')
    this.#trust = new TrustSection()
    return void fill(this.trustPlace, this.#trust.root)
  }

  draw() {
    this.#trust?.draw()
    const { figures } = this
    if (!figures) return
    const items = sum(Object.values(figures.by_task).map(sum))
    this.mine.hidden = this.grid.hidden = this.tiles.hidden = items === 0
    this.empty.hidden = items > 0
    if (items === 0) {
      fill(this.empty, emptyWords(Object.keys(this.#filter).length > 0))
      return
    }
    fill(this.mine, mineElements(figures, this.#filter))
    fill(this.tiles, tiles(figures, items))
    for (const chart of this.charts) chart.draw(figures)
    this.time.name(t('Time per item'), figures.time_meaning)
    this.time.show(times(figures.time_by_person))
    this.assigned.show(assigned(figures.assigned))
  }

  #choices(tasks, batches) {
    options(this.task, [['', t('all tasks')], ...Object.entries(tasks)], this.task.value)
    const names = batches.map((name) => [name, name || t('without a name')])
    options(this.batch, [['*', t('all batches')], ...names], this.batch.value)
  }
}

/** @param {ProgressFigures} figures @param {number} items */
function tiles({ yielded, disagreement }, items) {
  const { approved, rejected, cannot_tell: cannotTell, fraction } = yielded
  const judged = approved + rejected
  const { disagreed, compared } = disagreement
  const meaning = {
    items: t('Everything in the filter: one spectrum with one drafted trajectory is one item.'),
    approved: t('Items approved by vote or adjudication. An export contains these.'),
    cannotTell: t(
      'Items of which people decided that nobody can tell from these data. No export for training contains them.',
    ),
    yield: t('Approved / (approved + rejected). Open items and “cannot tell” are not counted.'),
    disagreement: t(
      'Of the items on whose current version two or more people decided in one round of audit or vote: those on ' +
        'which they disagreed (pass or approve against return or reject).',
    ),
  }
  return [
    tile(t('Items'), meaning.items, number(items)),
    tile(t('Still open'), t('Items that are not decided yet.'), number(items - judged - cannotTell)),
    tile(t('Approved'), meaning.approved, number(approved)),
    tile(t('Rejected'), t('Items rejected in any round.'), number(rejected)),
    tile(t('Cannot tell'), meaning.cannotTell, number(cannotTell)),
    shareTile(t('Yield'), meaning.yield, [fraction, approved, judged], t('no item is approved or rejected yet')),
    shareTile(
      t('Disagreement'),
      meaning.disagreement,
      [disagreement.fraction, disagreed, compared],
      t('no item was judged by two people yet'),
    ),
  ]
}

const tile = (name, meaning, figure, tag = 'dd') => h('div.tile', h('dt', defined(name, meaning)), h(tag, figure))

function shareTile(name, meaning, [fraction, part, whole], why) {
  if (fraction === null) return tile(name, meaning, t('undefined: {reason}', { reason: why }), 'dd.undefined')
  const counts = t('{part} of {whole}', { part: number(part), whole: number(whole) })
  return tile(name, meaning, [`${number(100 * fraction, whole >= 1000 ? 1 : 0)}\u202f%`, ' ', h('span.of', counts)])
}

/** The items of each person, and where they wait. @param {Record<string, Record<string, number>>} people */
function assigned(people) {
  const rows = Object.entries(people).map(([person, states]) => {
    const open = STATES.filter((name) => states[name] && !OUTCOMES.includes(name))
    const decided = sum(OUTCOMES.map((name) => states[name] ?? 0))
    const link = queueLink(person, { assigned: person }, t('Show the items of {person} in the queue', { person }))
    const waiting = withCommas(open.map((name) => `${word(name)}\u00a0${number(states[name])}`))
    return [link, h('strong', number(sum(states))), waiting, number(decided)]
  })
  if (!rows.length) return t('No item is assigned to anybody.')
  return table([t('Person'), t('Assigned'), t('Waiting in'), t('Decided')], rows)
}

/** The median active seconds of each person in each round. @param {Record<string, Record<string, TimeSpent>>} people */
function times(people) {
  const rows = Object.entries(people).flatMap(([person, rounds]) =>
    Object.entries(rounds).map(([round, { decisions, median_seconds: seconds }]) => {
      const median = t('{seconds} s', { seconds: number(seconds, seconds < 10 ? 1 : 0) })
      return [person, word(round), h('strong', median), number(decisions)]
    }),
  )
  if (!rows.length) return t('Undefined: no decision has a measured time.')
  return table([t('Reviewer'), t('Round'), t('Median'), t('Decisions')], rows)
}

/** @param {boolean} filtered */
const emptyWords = (filtered) =>
  filtered
    ? [
        h('h3', t('No item matches this filter')),
        h('p', t('Choose all tasks and all batches to see the whole campaign.')),
      ]
    : [
        h('h3', t('Nothing to review yet')),
        h('p', t('Open the Data tab to add spectra or to import trajectories. The charts appear with the first item.')),
      ]

const ROUNDS_MEANING = t(
  'Audits and votes on the same version by two or more people, in closed rounds. Decisions of open rounds are not ' +
    'counted.',
)
const APART_MEANING = t(
  'Items on whose current version two people disagreed in one closed round of audit or vote (pass or approve against ' +
    'return or reject).',
)
const CONFLICTS_MEANING = t(
  'Items of which two or more people gave inspections that differ by the rules of DESI: quality by 2 or more, ' +
    '(z_max − z_min) / (1 + z_min) of 0.0033 or more, or the class. Inspections of open rounds are not counted.',
)

/** The four cards about agreement. `show` draws the server's numbers, `say` a sentence instead. */
class AgreementCards {
  constructor() {
    this.rounds = new Card(t('Agreement of reviewers'), ROUNDS_MEANING)
    this.apart = new Card(t('Disagreements'), APART_MEANING)
    this.conflicts = new Card(t('Inspections that differ'), CONFLICTS_MEANING)
    this.gold = new Card(t('Reviewers on gold'))
    this.cards = [this.rounds, this.apart, this.conflicts, this.gold]
    this.say(t('Calculating …'))
  }

  /** @param {string} message */
  say(message) {
    for (const card of this.cards) card.show(message)
  }

  /** @param {Agreement} figures */
  show(figures) {
    this.rounds.show(roundTable(figures.rounds, figures.rounds_of_last))
    this.apart.show(differing(figures.disagreements))
    this.conflicts.show(conflicting(figures.conflicts))
    this.gold.name(t('Reviewers on gold'), figures.gold_meaning)
    this.gold.show(goldTable(figures.gold))
  }
}

/** @param {Agreement['rounds']} rounds @param {number | null} last */
function roundTable(rounds, last) {
  if (!rounds.some(({ raw }) => raw.n)) return t('No decision can be compared yet.')
  const [{ raw, alpha }] = rounds
  const heads = [defined(t('Raw agreement'), raw.definition), defined(t('Alpha'), alpha.definition)]
  const rows = rounds.map((row) => [word(row.round), row.title, estimate(row.raw), estimate(row.alpha, 'number')])
  return [
    table([t('Round'), t('Task'), ...heads], rows),
    last && h('p.more', t('Of the last {n} decisions of all rounds.', { n: number(last) })),
  ]
}

/** @param {Agreement['gold']} gold */
function goldTable(gold) {
  if (!gold.length)
    return t('Undefined: nobody has committed a verdict on an item that has a known label and is decided.')
  const unsure = t('Verdicts “cannot tell from these data”, which count in no other number here.')
  const heads = [defined(t('Agrees with the label'), gold[0].right.definition), defined(t('“Cannot tell”'), unsure)]
  const rows = gold.map((row) => [row.person, estimate(row.right), number(row.cannot_tell)])
  return table([t('Reviewer'), ...heads], rows)
}

/** @param {Agreement['disagreements']} apart */
function differing({ total: count, items }) {
  if (!count) return t('People disagree on no item so far.')
  const round = ([name, verbs]) => {
    const counts = Object.entries(verbs).map(([verb, n]) => `${n} ${word(verb)}`)
    return `${word(name)}: ${withCommas(counts)}`
  }
  const rounds = ({ decisions }) => Object.entries(decisions).map(round).join('; ')
  return [
    h('p.more', latest(count, items), queueLink(t('Show them in the queue'), { disagreement: 'true' })),
    itemTable([t('State'), t('Decisions')], items, (item) => [word(item.state), rounds(item)]),
  ]
}

/** @param {InspectionConflicts} conflicts */
function conflicting({ total: count, items, of_last: last }) {
  if (!count) return t('No two people have given inspections that differ.')
  /** @param {InspectionResult} inspection */
  const inWords = ({ person, z, quality, type }) =>
    [person, z !== null && `z ${redshift(z)}`, quality !== null && t('quality {quality}', { quality }), type]
      .filter(Boolean)
      .join(' ')
  const inspections = (item) => item.inspections.map(inWords).join('; ')
  const cellsOf = (item) => [withCommas(item.conflict.map(word)), inspections(item)]
  return [
    h('p.more', latest(count, items), last && t('Of the last {n} inspections.', { n: number(last) })),
    itemTable([t('What differs'), t('Inspections')], items, cellsOf),
  ]
}

/** @param {number} count @param {unknown[]} items */
const latest = (count, items) =>
  count > items.length && t('The latest {n} of {count}. ', { n: number(items.length), count: number(count) })

/** Items, each with a link, its task and further cells. */
function itemTable(heads, items, cellsOf) {
  const link = ({ id, name }) => h('a', { href: `#item=${id}`, title: name }, name)
  const rows = items.map((item) => [link(item), item.title, ...cellsOf(item)])
  return table([t('Item'), t('Task'), ...heads], rows)
}
