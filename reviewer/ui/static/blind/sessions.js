// The coordinator's page: the form for a new session, and the list of sessions. It gets no answers of scorers before
// a session is closed, only how many there are.

import { fill, h } from '../common/dom.js'
import { getJSON, newKey, postJSON } from '../common/http.js'
import { openPanel } from '../common/panels.js'
import { fingerprintWords, historyWords } from './checks.js'
import { SetupForm } from './setup.js'

const REFRESH_INTERVAL = 15_000 // ms, while the page is visible

export class BlindSessions {
  /** @param {HTMLElement} root @param {{onScore: () => void}} options */
  constructor(root, { onScore }) {
    this.root = root
    this.cards = new Map()
    this.message = h('p.note.look', { hidden: true, role: 'alert' })
    this.score = h('button.to-score', { type: 'button', hidden: true, onClick: onScore })
    this.list = h('div.cards')
    this.form = new SetupForm({ onDrawn: (session) => this.#drawn(session) })
    root.classList.add('blind-sessions')
    fill(
      root,
      h(
        'div.columns',
        {},
        h('section.setup', { 'aria-label': 'New session' }, this.form.root),
        h(
          'section.list',
          { 'aria-label': 'Sessions' },
          h('header', {}, h('h2', {}, 'Sessions'), this.score),
          this.message,
          this.list,
        ),
      ),
    )
    setInterval(() => root.getClientRects().length > 0 && !document.hidden && this.#listed(), REFRESH_INTERVAL)
  }

  /** Show how many sheets this coordinator has to score themselves. */
  setWork(work) {
    const places = work.flatMap((one) => one.places)
    const left = places.filter((place) => !place.answered).length
    this.score.hidden = !places.length
    this.score.textContent = left ? `You score in open sessions: ${left} left` : 'To the sheets you have scored'
  }

  async load() {
    await this.#showErrors(async () => this.form.fill(await getJSON('/api/v1/blind/setup')))
    await this.#listed()
  }

  #listed() {
    return this.#showErrors(async () => this.#draw(await getJSON('/api/v1/blind/sessions')))
  }

  #draw(sessions) {
    for (const session of sessions) {
      const known = this.cards.get(session.id)
      if (known) known.draw(session)
      else this.cards.set(session.id, new SessionCard(session, { onChanged: () => this.#listed() }))
    }
    const wanted = sessions.map(({ id }) => this.cards.get(id).root)
    // Existing cards are not replaced: a person may be reading one, or it may have the focus.
    if (wanted.some((card, at) => this.list.children[at] !== card)) fill(this.list, wanted)
    if (!sessions.length)
      fill(
        this.list,
        h(
          'p.muted',
          {},
          'None yet. Choose in the form what is compared and who scores, check the preview, create the session.',
        ),
      )
  }

  async #drawn(session) {
    await this.#listed()
    this.cards.get(session.id)?.root.scrollIntoView({ block: 'nearest' })
  }

  async #showErrors(act) {
    try {
      await act()
      this.message.hidden = true
    } catch (error) {
      this.message.hidden = false
      this.message.textContent = error.message
      if (!error.kind) console.error(error)
    }
  }
}

const TONE = { drawn: 'amber', open: 'blue', closed: 'grey' }
const MODE = { scores: 'scores', pairs: 'pairs', both: 'scores and pairs' }
const SHOWN = 40 // finds listed

export class SessionCard {
  /** @param {any} session @param {{onChanged: () => void}} options */
  constructor(session, { onChanged }) {
    this.onChanged = onChanged
    this.key = { open: newKey(), close: newKey() }
    this.head = h('header')
    this.about = h('div.about')
    this.progress = h('div.progress')
    this.found = h('div.found')
    this.checks = h('div.checks')
    this.message = h('p.note.look', { hidden: true, role: 'alert' })
    this.actions = h('div.verbs')
    this.root = h(
      'article.session',
      { 'data-session': session.id, 'aria-label': `Session ${session.id}` },
      this.head,
      this.about,
      this.progress,
      this.found,
      this.checks,
      this.message,
      this.actions,
    )
    this.draw(session)
    if (session.state === 'drawn') {
      this.#giveaways()
      this.#checks()
    }
  }

  draw(session) {
    const text = JSON.stringify(session)
    if (text === this.drawn) return
    this.drawn = text
    this.session = session
    fill(
      this.head,
      h('strong', {}, `${session.id} · ${session.name}`),
      h(`span.pill.${TONE[session.state]}`, {}, stateWords(session)),
      h('span.muted', {}, whenOf(session)),
    )
    fill(
      this.about,
      h('p.muted', {}, planWords(session)),
      h('p.muted', {}, analysisWords(session)),
      session.notes.map((note) => h('p.note', {}, note)),
    )
    fill(
      this.progress,
      session.progress.map((one) =>
        h(
          'div.scorer',
          {},
          h('span', {}, one.scorer),
          h('div.bar', {}, h('span', { style: `width:${one.asked ? (100 * one.done) / one.asked : 0}%` })),
          h('span.muted', {}, `${one.done} of ${one.asked}`),
        ),
      ),
    )
    if (session.state !== 'drawn') for (const part of [this.found, this.checks]) fill(part)
    fill(this.actions, this.#verbs())
  }

  #verbs() {
    const { state, id, at, withheld } = this.session
    const button = (text, act, kind = '') => h(`button${kind}`, { type: 'button', onClick: act }, text)
    if (state === 'drawn')
      return [
        button('Open for scoring', () => this.#change('open'), '.primary'),
        button('Discard…', () => this.#close()),
      ]
    if (state === 'open') return [button('Close…', () => this.#close(), '.danger')]
    if (!at.opened) return []
    if (withheld) return [h('p.note', {}, withheld)]
    return [
      h('a', { href: `/api/v1/blind/sessions/${id}/report.html`, target: '_blank', rel: 'noopener' }, 'Report'),
      h(
        'a',
        { href: `/api/v1/blind/sessions/${id}/report.zip`, download: '' },
        'Report, tables (CSV) and raw scores as one file',
      ),
    ]
  }

  async #close() {
    const { session } = this
    const given = session.state === 'drawn'
    const left = session.progress.reduce((sum, one) => sum + one.asked - one.done, 0)
    const words = given
      ? [
          'It has not been opened, so nobody has scored anything. It stays in the list as discarded and has no ' +
            'results.',
        ]
      : [
          'Nothing more can be scored or changed, and it cannot be opened again.',
          left ? `${left} answers are still missing; the results will be without them.` : 'No answer is missing.',
          'After that the results are available, and scorers find the items in Review again.',
        ]
    const sure = await openPanel(given ? `Discard session ${session.id}?` : `Close session ${session.id}?`, (close) =>
      h(
        'div',
        {},
        words.map((line) => h('p', {}, line)),
        h(
          'footer',
          {},
          h('button', { type: 'button', onClick: () => close() }, 'Cancel'),
          h(
            'button.danger',
            { type: 'button', onClick: () => close(true) },
            given ? 'Discard session' : 'Close session',
          ),
        ),
      ),
    )
    if (sure) await this.#change('close')
  }

  async #change(verb) {
    await this.#showErrors(async () =>
      this.draw(await postJSON(`/api/v1/blind/sessions/${this.session.id}/${verb}`, { key: this.key[verb] })),
    )
    this.onChanged()
  }

  /** List the texts that may reveal their author, for a check before scorers see them. */
  #giveaways() {
    return this.#showErrors(async () => {
      const { id, withheld } = this.session
      if (withheld) return fill(this.found, h('p.note', {}, withheld))
      const found = await getJSON(`/api/v1/blind/sessions/${id}/giveaways`)
      if (!found.length)
        return fill(this.found, h('p.note', {}, 'No text reveals its author, as far as a list of phrases can tell.'))
      return fill(
        this.found,
        h(
          'details',
          { open: true },
          h(
            'summary.look',
            {},
            found.length === 1 ? 'A text may reveal its author' : `${found.length} places may reveal an author`,
          ),
          h('ul.giveaways', {}, found.slice(0, SHOWN).map(giveawayWords)),
          found.length > SHOWN && h('p.muted', {}, `and ${found.length - SHOWN} more (spec-o3 blind giveaways ${id})`),
          h('p.muted', {}, 'Open the session as it is, or discard it and create another one without such texts.'),
        ),
      )
    })
  }

  /** Show what preceded the session and, unless they are withheld from this person, the fingerprints of the sources. */
  #checks() {
    return this.#showErrors(async () => {
      const { id, withheld } = this.session
      const under = `/api/v1/blind/sessions/${id}`
      const [history, prints] = await Promise.all([
        getJSON(`${under}/history`),
        withheld ? null : getJSON(`${under}/fingerprints`),
      ])
      if (this.session.state === 'drawn') fill(this.checks, prints && fingerprintWords(prints), historyWords(history))
    })
  }

  async #showErrors(act) {
    try {
      await act()
      this.message.hidden = true
    } catch (error) {
      this.message.hidden = false
      this.message.textContent = error.message
      if (!error.kind) console.error(error)
    }
  }
}

function giveawayWords({ item, source, step, words, kind, sentence }) {
  const at = sentence.indexOf(words)
  return h(
    'li',
    {},
    h('span.muted', {}, `#${item} by ${source}, ${step ? `step ${step}` : 'first picture'} · ${kind}`),
    h('q', {}, sentence.slice(0, at), h('mark', {}, words), sentence.slice(at + words.length)),
  )
}

/** @param {any} session */
function stateWords({ state, at }) {
  if (state === 'drawn') return 'not opened'
  return state === 'closed' && !at.opened ? 'discarded' : state
}

const listed = (parts) => parts.filter(Boolean).join(' · ')
const counted = (number, one, more) => number > 0 && `${number} ${number === 1 ? one : more}`

function planWords({ plan, drawn_by: by }) {
  const some = (list, none) => (list.length ? list.join(', ') : none)
  const per = ['class', ...plan.strata].join(' and ')
  return listed([
    MODE[plan.mode],
    plan.items.length
      ? `${plan.items.length} chosen items`
      : `${some(plan.sources, 'every source')}; ${some(plan.tasks, 'every class')}`,
    plan.design === 'separate' && 'each source on spectra of its own',
    plan.number ? `${plan.number} spectra per ${per}` : plan.strata.length > 0 && `strata: ${per}`,
    `${counted(plan.each, 'scorer', 'scorers')} per spectrum`,
    plan.repeats > 0 && `${counted(plan.repeats, 'repeat', 'repeats')} per scorer`,
    counted(plan.gold.length, 'gold item', 'gold items'),
    counted(plan.training.length, 'training item', 'training items'),
    plan.earlier === 'bar' && 'no trace that a scorer saw before',
    plan.giveaways === 'leave out' && 'no text that reveals its author',
    `seed ${plan.seed}`,
    by && `by ${by}`,
  ])
}

/** The analysis plan, and its hash once the session has been opened. */
function analysisWords({ plan, analysis_sha256: hash }) {
  const { dimension, first, second, margin, gold_within: gold, repeats_within_1: repeats, ...more } = plan.analysis
  const what = plan.mode === 'pairs' ? 'preference' : dimension === 'coherence' ? 'coherence' : 'physical consistency'
  return `Analysis plan: ${listed([
    `${what}, ${first ? `${first} less ${second}` : 'the first source less the second'}`,
    margin !== null && `margin of equivalence ${margin}`,
    gold !== null && `gold scores within the tolerance at least ${gold}`,
    repeats !== null && `repeats at most 1 apart at least ${repeats}`,
    more.without_revealing && 'without traces that reveal their author',
    `closed ${more.stopping}`,
    hash && `SHA-256 ${hash.slice(0, 12)}…`,
  ])}`
}

function whenOf({ at }) {
  const [word, time] = at.closed ? ['closed', at.closed] : at.opened ? ['opened', at.opened] : ['created', at.drawn]
  return `${word} ${new Date(time).toLocaleString('sv').slice(0, 16)}`
}
