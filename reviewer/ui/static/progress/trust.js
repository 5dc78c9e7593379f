// The Trust section of the Progress tab: P(YES) against labels, certified thresholds, rates, votes and label errors.
// It is fetched when it comes into view, after the charts.

import { address } from '../common/address.js'
import { t, tn, withParts } from '../common/language.js'
import { fill, h, withCommands } from '../common/dom.js'
import { number } from '../common/format.js'
import { getJSON } from '../common/http.js'
import { folded } from '../common/fields.js'
import { table } from '../common/page.js'
import { Chart } from './chart_card.js'
import { Card, defined, estimate, options } from './tables.js'
import { reliabilityDiagram, verdictBar } from './trust_charts.js'

const RELIABILITY_MEANING = t(
  'Spectra with a label, in ten bins of P(YES): the share of YES among them with its 95 % Wilson interval. If P(YES) ' +
    'is calibrated, the points lie on the dashed line. Spectra from which P(YES) was fitted are left out.',
)
const LIMITS_MEANING = t(
  'A limit is the largest error rate that you accept on one side. δ is the chance that a stated bound is wrong.',
)
const YES_MEANING = t('Error of YES: share of NO among the spectra called YES, which is 1 − purity.')
const NO_MEANING = t('Error of NO: share of YES among the spectra called NO.')
const DELTA_MEANING = t('The chance that the bound of a side is wrong, for each side. 5 % is a confidence of 95 %.')
const PURPOSE = t(
  'Which answers of a policy can be used without a person, and how many of them may be wrong. P(YES) is the ' +
    'probability that a spectrum is YES. Labels are answers that people approved, or that were known before. ',
)
const WAIT = 250 // ms after the last change of a limit

/** @typedef {{task: string, policy: string}} Choice */

export class TrustSection {
  #lastRequest = 0
  #lastLimits = 0
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer
  /** @type {any} */
  #figures = null
  #isVisible = false
  #isStale = true

  constructor() {
    const onChange = () => this.refresh()
    this.task = h('select', { 'aria-label': t('Class'), onChange })
    this.policy = h('select', { 'aria-label': t('Policy'), onChange })
    this.state = h('span.asof', { role: 'status' })
    this.message = h('div.empty', { hidden: true })
    this.simulated = h('p.simulated', { hidden: true, role: 'note' })
    const later = () => this.#later()
    this.limits = {
      alpha_yes: limit(t('Error of YES'), YES_MEANING, later),
      alpha_no: limit(t('Error of NO'), NO_MEANING, later),
      delta: limit('δ', DELTA_MEANING, later),
    }
    this.reliability = new Chart(t('How well P(YES) is calibrated'), RELIABILITY_MEANING, reliabilityDiagram)
    this.reliability.root.classList.add('reliability')
    this.calibration = h('p.more')
    this.reliability.root.append(this.calibration)
    this.sides = h('div.sides', { role: 'status' })
    this.rates = h('dl.rates')
    this.skill = new Card(t('Skill of the annotators'))
    this.suspects = new Card(t('Labels that may be wrong'))
    this.certificates = new Card(t('Certificates'))
    const thresholds = new Card(t('Certified thresholds'), LIMITS_MEANING)
    const limits = Object.values(this.limits).map(({ root }) => root)
    thresholds.show([h('div.limits', limits), this.sides])
    const rates = new Card(t('Rates'))
    rates.show(this.rates)
    const cards = [this.reliability, thresholds, rates, this.certificates, this.skill, this.suspects]
    const roots = cards.map((card) => card.root)
    this.grid = h('div.charts', { hidden: true }, roots)
    const promise = h('a', { href: address('/docs/trust.md'), target: '_blank' }, t('What is promised, and how'))
    // Hidden until there is something to choose from.
    this.choice = [this.task, this.policy].map((field) => h('label', { hidden: true }, field.ariaLabel, field))
    this.purpose = h('p.purpose', { hidden: true }, PURPOSE, promise)
    const bar = h('div.bar', h('h2', t('Trust')), this.choice, this.state)
    const parts = [bar, this.purpose, this.simulated, this.message, this.grid]
    this.root = h('section.trust', { 'aria-label': t('Trust') }, parts)
    new IntersectionObserver((entries) => {
      this.#isVisible = entries.at(-1)?.isIntersecting ?? false
      if (this.#isVisible && this.#isStale) this.refresh()
    }).observe(this.root)
  }

  /** The tab was refreshed: fetch again as soon as the section is in view. */
  expire() {
    this.#isStale = true
    if (this.#isVisible) this.refresh()
  }

  draw() {
    if (this.#figures?.reliability) this.reliability.draw(this.#figures)
  }

  async refresh() {
    const request = ++this.#lastRequest
    this.#isStale = false
    this.state.classList.remove('late')
    this.state.textContent = t('Calculating …')
    const query = new URLSearchParams()
    if (this.task.value) query.set('task', this.task.value)
    if (this.policy.value) query.set('policy', this.policy.value)
    try {
      const figures = await getJSON(`/api/v1/progress/trust?${query}`)
      if (request !== this.#lastRequest) return
      this.#show(figures)
      await this.#countSimulated(figures, request)
      if (figures.scored) await this.#certify()
      if (request === this.#lastRequest) this.state.textContent = ''
      if (figures.scored) await this.#findLabelErrors(figures, request)
    } catch (/** @type {any} */ error) {
      if (request === this.#lastRequest) this.#fail(error)
    }
  }

  #later() {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      const request = this.#lastRequest
      this.#certify().catch((error) => request === this.#lastRequest && this.#fail(error))
    }, WAIT)
  }

  /** Fetch the thresholds for the present limits. */
  async #certify() {
    const request = ++this.#lastLimits
    const query = this.#query()
    if (!query) {
      fill(this.sides, h('p.none', t('Undefined: a limit must be above 0 and below 100 %.')))
      return
    }
    const answer = await getJSON(`/api/v1/progress/trust/thresholds?${query}`).catch((error) => {
      if (request === this.#lastLimits) throw error
    })
    if (request !== this.#lastLimits) return
    fill(this.sides, sides(answer, this.#figures.may_download && query))
    fill(this.rates, [...this.#figures.rates, ...answer.rates].map(rate))
  }

  /**
   * Write above the figures how many items of the policy are simulated.
   * @param {Choice & {policies: {name: string, items: number}[]}} figures @param {number} request
   */
  async #countSimulated({ task, policy, policies }, request) {
    const query = new URLSearchParams({ task, drafter: policy, simulated: 'true' })
    const total = policy ? (await getJSON(`/api/v1/queue?${query}`)).total : 0
    if (request !== this.#lastRequest) return
    const items = policies.find(({ name }) => name === policy)?.items ?? 0
    this.simulated.hidden = !total
    fill(this.simulated, h('strong', t('Simulated spectra: ')), simulatedText(total, items))
  }

  /** @param {Choice} choice @param {number} request */
  async #findLabelErrors({ task, policy }, request) {
    const answer = await getJSON(`/api/v1/progress/trust/suspects?${new URLSearchParams({ task, policy })}`)
    if (request === this.#lastRequest) this.suspects.show(suspects(answer))
  }

  /** The limits as shares; null if one is no number between 0 and 100. */
  #query() {
    const { task, policy } = this.#figures
    const query = new URLSearchParams({ task, policy })
    for (const [name, { value }] of Object.entries(this.limits)) {
      const share = value() / 100
      if (!(share > 0 && share < 1)) return null
      query.set(name, String(Number(share.toPrecision(6))))
    }
    return query
  }

  /** @param {any} error */
  #fail(error) {
    this.state.classList.add('late')
    this.state.textContent = t('Not refreshed: {message}', { message: error.message })
  }

  /** @param {TrustFigures | NoScores} figures */
  #show(figures) {
    this.#figures = figures
    this.#lastLimits += 1 // thresholds that are on their way belong to the figures before
    options(this.task, Object.entries(figures.tasks), figures.task)
    const policies = figures.policies.map(({ name, items }) => [name, `${name} (${number(items)})`])
    options(this.policy, policies, figures.policy)
    for (const label of this.choice) label.hidden = !figures.policies.length
    this.purpose.hidden = !figures.scored
    this.grid.hidden = !figures.scored
    this.message.hidden = Boolean(figures.scored)
    if (!figures.scored) {
      fill(this.message, h('p', withCommands(figures.why_not)), figures.command && h('code', figures.command))
      return
    }
    this.reliability.draw(figures)
    fill(this.calibration, calibrationText(figures))
    fill(this.rates, figures.rates.map(rate))
    this.skill.root.hidden = figures.skill === null
    if (figures.skill) this.skill.show(skills(figures.skill))
    if (!this.suspects.body.childElementCount) this.suspects.show(t('Calculating …'))
    this.certificates.root.hidden = !figures.certificates.length
    this.certificates.show(figures.certificates.map(certificate))
  }
}

/** @param {number} total @param {number} items */
const simulatedText = (total, items) =>
  total >= items
    ? t('all items of this policy are simulated. These figures say nothing about real spectra.')
    : t(
        '{total} of {items} items of this policy are simulated. They are counted below only if P(YES) was calculated ' +
          'with spec-o3 certify --simulated. Then these figures do not hold for real spectra.',
        { total: number(total), items: number(items) },
      )

/** Keep a number and its per cent sign on one line. @param {string} text */
const unbroken = (text) => text.replaceAll(/(\d) %/g, '$1\u202f%')

/** A limit as a slider and a field in per cent. */
function limit(name, meaning, onChange) {
  const input = (/** @type {Record<string, string>} */ props) =>
    h('input', { ...props, value: '5', onInput: ({ target }) => set(target.value) })
  const label = t('{name} in per cent', { name })
  const field = input({ type: 'number', min: '0.1', max: '50', step: '0.1', 'aria-label': label })
  const slider = input({ type: 'range', min: '0.5', max: '20', step: '0.5', 'aria-label': name })
  const set = (/** @type {string} */ value) => {
    for (const control of [field, slider]) if (control.value !== value) control.value = value
    onChange()
  }
  const root = h('div.limit', defined(name, meaning), slider, h('span.field', field, '\u202f%'))
  return { root, value: () => field.valueAsNumber }
}

/** @param {TrustFigures} figures */
function calibrationText({ scored, calibration }) {
  const measured = calibration && [
    ...[defined(t('Calibration error'), calibration.meaning), ` ${calibration.text} · `],
    ...[defined(t('Brier score'), calibration.brier_meaning), ` ${calibration.brier} · `],
  ]
  return [measured, defined(scored.model, scored.model_meaning), ` · ${scored.text}`]
}

/** @param {Thresholds} thresholds @param {URLSearchParams | false | null} query for the download; false: not allowed */
function sides({ counts, sides: both, promise, assumptions, method }, query) {
  const results = both.map(({ threshold, text }) =>
    h(threshold === null ? 'li.refused' : 'li.certified', unbroken(text)),
  )
  const assumed = assumptions.map((assumption) => h('li', unbroken(assumption)))
  const certificate = { href: address(`/api/v1/progress/trust/certificate?${query}`), download: '' }
  return [
    verdictBar(counts),
    h('ul.results', results),
    promise && h('p', h('strong', t('Promised: ')), unbroken(promise)),
    folded(t('Assumptions'), h('ul', assumed)),
    h('p.more', method),
    query && promise && h('a.button', certificate, t('Download certificate')),
  ]
}

/** @param {TrustFigure} figure */
const rate = ({ name, meaning, value, note }) => [
  h('dt', defined(name, meaning)),
  h('dd', value === null ? h('span.why', note) : [h('strong', value), ' ', h('span.why', note)]),
]

/** @param {Skills} skill */
function skills({ rows, reason, meanings }) {
  if (reason) return t('Undefined: {reason}.', { reason })
  const rates = [defined(t('Sensitivity'), meanings.sensitivity), defined(t('Specificity'), meanings.specificity)]
  const cells = rows.map((row) => {
    const estimates = [row.sensitivity, row.specificity].map((rated) => estimate(rated))
    return [row.person, number(row.votes), ...estimates]
  })
  return table([t('Person'), defined(t('Votes'), meanings.votes), ...rates], cells)
}

/** @param {LabelSuspects} labels */
function suspects({ total, items, reason, meaning, hidden }) {
  if (!total) return reason
  const words = defined(tn('{n} label', '{n} labels', total, { n: number(total) }), meaning)
  const link = ({ item, reason: why, name }) => h('a', { href: `#item=${item}`, title: why }, name)
  const rows = items.map((item) => [link(item), item.label, item.p_yes.toFixed(2), item.source])
  return [
    h('p.more', withParts(t('{defined} against P(YES). {hidden}'), { defined: words, hidden })),
    rows.length > 0 && table([t('Item'), t('Label'), 'P(YES)', t('From')], rows),
  ]
}

/** @param {CertificateRow} row */
const certificate = ({ file, state, text, is_valid: isValid }) =>
  h('p', h(isValid ? 'strong.valid' : 'strong.suspended', state), ` ${file}: ${text}`)
