// The Trust section of the Progress tab: P(YES) against labels, certified thresholds, rates, votes and label errors.
// It is fetched when it comes into view, after the charts.

import { address } from '../common/address.js'
import { t, tn, withParts } from '../common/language.js'
import { fill, h, withCommands } from '../common/dom.js'
import { number } from '../common/format.js'
import { getJSON } from '../common/http.js'
import { Chart } from './chart_card.js'
import { Card, defined, estimate, options, table } from './tables.js'
import { reliabilityDiagram, verdictBar } from './trust_charts.js'

const RELIABILITY_MEANING = t(
  'Spectra with a label, in ten bins of P(YES): the share of YES among them with its 95 % ' +
    'Wilson interval. If P(YES) is calibrated, the points lie on the dashed line. Spectra from ' +
    'which P(YES) was fitted are left out.',
)
const LIMITS_MEANING = t(
  'A limit is the largest error rate that you accept on one side. δ is the chance that a ' + 'stated bound is wrong.',
)
const YES_MEANING = t('Error of YES: share of NO among the spectra called YES, which is 1 − purity.')
const NO_MEANING = t('Error of NO: share of YES among the spectra called NO.')
const DELTA_MEANING = t('The chance that the bound of a side is wrong, for each side. 5 % is a confidence of 95 %.')
const PURPOSE = t(
  'Which answers of a policy can be used without a person, and how many of them may be wrong. ' +
    'P(YES) is the probability that a spectrum is YES. Labels are answers that people approved, ' +
    'or that were known before. ',
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
    this.task = h('select', { 'aria-label': t('Class'), onChange: () => this.refresh() })
    this.policy = h('select', { 'aria-label': t('Policy'), onChange: () => this.refresh() })
    this.state = h('span.asof', { role: 'status' })
    this.message = h('div.empty', { hidden: true })
    this.simulated = h('p.simulated', { hidden: true, role: 'note' })
    this.limits = new Limits(() => this.#later())
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
    thresholds.show([this.limits.root, this.sides])
    const rates = new Card(t('Rates'))
    rates.show(this.rates)
    const cards = [this.reliability, thresholds, rates, this.certificates, this.skill, this.suspects]
    this.grid = h(
      'div.charts',
      { hidden: true },
      cards.map((card) => card.root),
    )
    const promise = h('a', { href: address('/docs/trust.md'), target: '_blank' }, t('What is promised, and how'))
    // Hidden until there is something to choose from.
    this.choice = [this.task, this.policy].map((field) => h('label', { hidden: true }, field.ariaLabel, field))
    this.purpose = h('p.purpose', { hidden: true }, PURPOSE, promise)
    this.root = h(
      'section.trust',
      { 'aria-label': t('Trust') },
      h('div.bar', h('h2', t('Trust')), this.choice, this.state),
      this.purpose,
      this.simulated,
      this.message,
      this.grid,
    )
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
    this.#timer = setTimeout(async () => {
      const request = this.#lastRequest
      try {
        await this.#certify()
      } catch (/** @type {any} */ error) {
        if (request === this.#lastRequest) this.#fail(error)
      }
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
    const answer = await getJSON(`/api/v1/progress/trust/thresholds?${query}`)
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

  #query() {
    const limits = this.limits.values()
    if (!limits || !this.#figures) return null
    const { task, policy } = this.#figures
    return new URLSearchParams({ task, policy, ...limits })
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
    options(
      this.policy,
      figures.policies.map(({ name, items }) => [name, `${name} (${number(items)})`]),
      figures.policy,
    )
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
        '{total} of {items} items of this policy are simulated. They are counted below only if ' +
          'P(YES) was calculated with spec-o3 certify --simulated. Then these figures do not hold for ' +
          'real spectra.',
        { total: number(total), items: number(items) },
      )

/** Keep a number and its per cent sign on one line. @param {string} text */
const unbroken = (text) => text.replaceAll(/(\d) %/g, '$1\u202f%')

/** The limits of both sides and δ, each as a slider and a field in per cent. */
class Limits {
  /** @param {() => void} onChange */
  constructor(onChange) {
    this.fields = {
      alpha_yes: limit(t('Error of YES'), YES_MEANING, 5, onChange),
      alpha_no: limit(t('Error of NO'), NO_MEANING, 5, onChange),
      delta: limit('δ', DELTA_MEANING, 5, onChange),
    }
    this.root = h(
      'div.limits',
      Object.values(this.fields).map((field) => field.root),
    )
  }

  /** The limits as shares; null if one is no number between 0 and 100. @returns {Record<string, string> | null} */
  values() {
    const shares = Object.values(this.fields).map(({ value }) => value() / 100)
    if (!shares.every((share) => share > 0 && share < 1)) return null
    const names = Object.keys(this.fields)
    return Object.fromEntries(names.map((name, at) => [name, String(Number(shares[at].toPrecision(6)))]))
  }
}

/** @param {string} name @param {string} meaning @param {number} start @param {() => void} onChange */
function limit(name, meaning, start, onChange) {
  const input = (/** @type {Record<string, string>} */ props) =>
    h('input', { ...props, value: String(start), onInput: ({ target }) => set(target.value) })
  const field = input({
    type: 'number',
    min: '0.1',
    max: '50',
    step: '0.1',
    'aria-label': t('{name} in per cent', { name }),
  })
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
  const measured = calibration
    ? [
        defined(t('Calibration error'), calibration.meaning),
        ` ${calibration.text} · `,
        defined(t('Brier score'), calibration.brier_meaning),
        ` ${calibration.brier} · `,
      ]
    : []
  return [...measured, defined(scored.model, scored.model_meaning), ` · ${scored.text}`]
}

/** @param {Thresholds} thresholds @param {URLSearchParams | false | null} query for the download; false: not allowed */
function sides(thresholds, query) {
  return [
    verdictBar(thresholds.counts),
    h(
      'ul.results',
      thresholds.sides.map((side) => h(side.threshold === null ? 'li.refused' : 'li.certified', unbroken(side.text))),
    ),
    thresholds.promise && h('p', h('strong', t('Promised: ')), unbroken(thresholds.promise)),
    h(
      'details',
      h('summary', t('Assumptions')),
      h(
        'ul',
        thresholds.assumptions.map((assumption) => h('li', unbroken(assumption))),
      ),
    ),
    h('p.more', thresholds.method),
    query && thresholds.promise
      ? h(
          'a.button',
          { href: address(`/api/v1/progress/trust/certificate?${query}`), download: '' },
          t('Download certificate'),
        )
      : null,
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
  return table(
    [t('Person'), t('Votes'), t('Sensitivity'), t('Specificity')],
    ['', meanings.votes, meanings.sensitivity, meanings.specificity],
    rows.map((row) => [row.person, number(row.votes), estimate(row.sensitivity), estimate(row.specificity)]),
  )
}

/** @param {LabelSuspects} labels */
function suspects({ total, items, reason, meaning, hidden }) {
  if (!total) return reason
  return [
    h(
      'p.more',
      withParts(t('{defined} against P(YES). {hidden}'), {
        defined: defined(tn('{n} label', '{n} labels', total, { n: number(total) }), meaning),
        hidden,
      }),
    ),
    items.length
      ? table(
          [t('Item'), t('Label'), 'P(YES)', t('From')],
          null,
          items.map((item) => [
            h('a', { href: `#item=${item.item}`, title: item.reason }, item.name),
            item.label,
            item.p_yes.toFixed(2),
            item.source,
          ]),
        )
      : null,
  ]
}

/** @param {CertificateRow} row */
const certificate = ({ file, state, text, is_valid: isValid }) =>
  h('p', h(isValid ? 'strong.valid' : 'strong.suspended', state), ` ${file}: ${text}`)
