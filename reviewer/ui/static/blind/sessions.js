// The coordinator's page: the form for a new session, and the list of sessions. It gets no answers of scorers before
// a session is closed, only how many there are.

import { address } from '../common/address.js'
import { fill, h } from '../common/dom.js'
import { dateAndTime, listOf } from '../common/format.js'
import { getJSON, newKey, postJSON } from '../common/http.js'
import { t, tn, withCommas, word } from '../common/language.js'
import { showError } from '../common/notices.js'
import { confirmed } from '../common/panels.js'
import { fingerprintWords, historyWords } from './checks.js'
import { versionWords } from './preview.js'
import { SetupForm } from './setup.js'

const REFRESH_INTERVAL = 15_000 // ms, while the page is visible

export class BlindSessions {
  /** @param {HTMLElement} root @param {{onScore: () => void}} options */
  constructor(root, { onScore }) {
    this.root = root
    this.cards = new Map()
    this.message = h('p.note.look', { hidden: true, role: 'alert' })
    this.score = h('button.to-score', { hidden: true, onClick: onScore })
    this.list = h('div.cards')
    this.form = new SetupForm({ onDrawn: (session) => this.#drawn(session) })
    root.classList.add('blind-sessions')
    const header = h('header', h('h2', t('Sessions')), this.score)
    const setup = h('section.setup', { 'aria-label': t('New session') }, this.form.root)
    const list = h('section.list', { 'aria-label': t('Sessions') }, header, this.message, this.list)
    fill(root, h('div.columns', setup, list))
    setInterval(() => root.getClientRects().length > 0 && !document.hidden && this.#listed(), REFRESH_INTERVAL)
  }

  /** Show how many sheets this coordinator has to score themselves. */
  setWork(work) {
    const places = work.flatMap((part) => part.places)
    const left = places.filter((place) => !place.answered).length
    this.score.hidden = !places.length
    this.score.textContent = left
      ? t('You score in open sessions: {left} left', { left })
      : t('To the sheets you have scored')
  }

  async load() {
    await attempt(this.message, async () => this.form.fill(await getJSON('/api/v1/blind/setup')))
    await this.#listed()
  }

  #listed() {
    return attempt(this.message, async () => this.#draw(await getJSON('/api/v1/blind/sessions')))
  }

  #draw(sessions) {
    for (const session of sessions) {
      const known = this.cards.get(session.id)
      if (known) known.draw(session)
      else this.cards.set(session.id, new SessionCard(session, { onChanged: () => this.#listed() }))
    }
    const cards = sessions.map(({ id }) => this.cards.get(id).root)
    // Existing cards are not replaced: a person may be reading one, or it may have the focus.
    if (cards.some((card, at) => this.list.children[at] !== card)) fill(this.list, cards)
    const none = t(
      'None yet. Choose in the form what is compared and who scores, check the preview, create the session.',
    )
    if (!sessions.length) fill(this.list, h('p.muted', none))
  }

  async #drawn(session) {
    await this.#listed()
    this.cards.get(session.id)?.root.scrollIntoView({ block: 'nearest' })
  }
}

/** Do something; show why it failed, until it succeeds. @param {HTMLElement} message @param {() => Promise<any>} act */
const attempt = (message, act) =>
  act().then(
    () => (message.hidden = true),
    (error) => showError(message, error),
  )

const TONE = { drawn: 'amber', open: 'blue', closed: 'grey' }
const MODE = { scores: t('scores'), pairs: t('pairs'), both: t('scores and pairs') }
const SHOWN = 40 // finds listed

export class SessionCard {
  /** @param {BlindSession} session @param {{onChanged: () => void}} options */
  constructor(session, { onChanged }) {
    this.onChanged = onChanged
    this.key = { open: newKey(), close: newKey() }
    this.head = h('header')
    this.about = h('div.about')
    this.progress = h('div.progress')
    this.giveaways = h('div.found')
    this.checks = h('div.checks')
    this.message = h('p.note.look', { hidden: true, role: 'alert' })
    this.actions = h('div.verbs')
    const parts = [this.head, this.about, this.progress, this.giveaways, this.checks, this.message, this.actions]
    const props = { 'data-session': session.id, 'aria-label': t('Session {id}', { id: session.id }) }
    this.root = h('article.session', props, parts)
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
      h('strong', `${session.id} · ${session.name}`),
      h(`span.pill.${TONE[session.state]}`, stateWords(session)),
      h('span.muted', whenOf(session)),
    )
    fill(
      this.about,
      h('p.muted', planWords(session)),
      h('p.muted', analysisWords(session)),
      ...session.notes.map((note) => h('p.note', { lang: 'en' }, note)),
    )
    const progress = ({ scorer, done, questions: all }) =>
      h(
        'div.scorer',
        h('span', scorer),
        h('div.bar', h('span', { style: `width:${all ? (100 * done) / all : 0}%` })),
        h('span.muted', t('{done} of {all}', { done, all })),
      )
    fill(this.progress, session.progress.map(progress))
    if (session.state !== 'drawn') for (const part of [this.giveaways, this.checks]) fill(part)
    fill(this.actions, this.#verbs())
  }

  #verbs() {
    const { state, id, at, withheld } = this.session
    const button = (text, act, kind = '') => h(`button${kind}`, { onClick: act }, text)
    if (state === 'drawn')
      return [
        button(t('Open for scoring'), () => this.#change('open'), '.primary'),
        button(t('Discard…'), () => this.#discard()),
      ]
    if (state === 'open') return [button(t('Close…'), () => this.#close(), '.danger')]
    if (!at.opened) return []
    if (withheld) return [h('p.note', withheld)]
    const report = (suffix) => address(`/api/v1/blind/sessions/${id}/report.${suffix}`)
    const all = t('Report, tables (CSV) and raw scores as one file')
    return [
      h('a', { href: report('html'), target: '_blank', rel: 'noopener' }, t('Report')),
      h('a', { href: report('zip'), download: '' }, all),
    ]
  }

  async #close() {
    const { id, progress } = this.session
    const left = progress.reduce((sum, scorer) => sum + scorer.questions - scorer.done, 0)
    const missing = tn(
      '{n} answer is still missing; the results will be without it.',
      '{n} answers are still missing; the results will be without them.',
      left,
    )
    const words = [
      t('Nothing more can be scored or changed, and it cannot be opened again.'),
      left ? missing : t('No answer is missing.'),
      t('After that the results are available, and scorers find the items in Review again.'),
    ]
    if (await confirmed(t('Close session {id}?', { id }), words, t('Close session'))) await this.#change('close')
  }

  async #discard() {
    const { id } = this.session
    const words = t(
      'It has not been opened, so nobody has scored anything. It stays in the list as discarded and has no results.',
    )
    if (await confirmed(t('Discard session {id}?', { id }), [words], t('Discard session'))) await this.#change('close')
  }

  async #change(verb) {
    await attempt(this.message, async () =>
      this.draw(await postJSON(`/api/v1/blind/sessions/${this.session.id}/${verb}`, { key: this.key[verb] })),
    )
    this.onChanged()
  }

  /** List the texts that may reveal their author, for a check before scorers see them. */
  #giveaways() {
    return attempt(this.message, async () => {
      const { id, withheld } = this.session
      if (withheld) return fill(this.giveaways, h('p.note', withheld))
      const giveaways = await getJSON(`/api/v1/blind/sessions/${id}/giveaways`)
      if (!giveaways.length)
        return fill(this.giveaways, h('p.note', t('No text reveals its author, as far as a list of phrases can tell.')))
      const title = tn('A text may reveal its author', '{n} places may reveal an author', giveaways.length)
      const more = giveaways.length - SHOWN
      const parts = [
        h('summary.look', title),
        h('ul.giveaways', giveaways.slice(0, SHOWN).map(giveawayWords)),
        more > 0 && h('p.muted', t('and {n} more (spec-o3 blind giveaways {id})', { n: more, id })),
        h('p.muted', t('Open the session as it is, or discard it and create another one without such texts.')),
      ]
      return fill(this.giveaways, h('details', { open: true }, parts))
    })
  }

  /** Show what preceded the session and, unless they are withheld from this person, the fingerprints of the sources. */
  #checks() {
    return attempt(this.message, async () => {
      const { id, withheld } = this.session
      const under = address(`/api/v1/blind/sessions/${id}`)
      const [history, prints] = await Promise.all([
        getJSON(`${under}/history`),
        withheld ? null : getJSON(`${under}/fingerprints`),
      ])
      if (this.session.state === 'drawn') fill(this.checks, prints && fingerprintWords(prints), historyWords(history))
    })
  }
}

function giveawayWords({ item, source, step, words, kind, sentence }) {
  const at = sentence.indexOf(words)
  const place = step
    ? t('#{item} by {source}, step {step} · {kind}', { item, source, step, kind: word(kind) })
    : t('#{item} by {source}, first picture · {kind}', { item, source, kind: word(kind) })
  const quoted = h('q', sentence.slice(0, at), h('mark', words), sentence.slice(at + words.length))
  return h('li', h('span.muted', place), quoted)
}

/** @param {BlindSession} session */
function stateWords({ state, at }) {
  if (state === 'drawn') return t('not opened')
  return state === 'closed' && !at.opened ? t('discarded') : word(state)
}

const listed = (parts) => parts.filter(Boolean).join(' · ')

function planWords({ plan, version, drawn_by: by }) {
  const some = (list, none) => (list.length ? withCommas(list) : none)
  const per = listOf([t('class'), ...plan.strata])
  return listed([
    MODE[plan.mode],
    versionWords(version),
    ...(plan.items.length
      ? [tn('{n} chosen item', '{n} chosen items', plan.items.length)]
      : [some(plan.sources, t('every source')), some(plan.tasks, t('every class'))]),
    plan.design === 'separate' && t('each source on spectra of its own'),
    plan.number
      ? tn('{n} spectrum per {strata}', '{n} spectra per {strata}', plan.number, { strata: per })
      : plan.strata.length > 0 && t('strata: {strata}', { strata: per }),
    plan.each > 0 && tn('{n} scorer per spectrum', '{n} scorers per spectrum', plan.each),
    plan.repeats > 0 && tn('{n} repeat per scorer', '{n} repeats per scorer', plan.repeats),
    plan.gold.length > 0 && tn('{n} gold item', '{n} gold items', plan.gold.length),
    plan.training.length > 0 && tn('{n} training item', '{n} training items', plan.training.length),
    plan.earlier === 'bar' && t('no trace that a scorer saw before'),
    plan.giveaways === 'leave out' && t('no text that reveals its author'),
    t('seed {seed}', { seed: plan.seed }),
    by && t('by {person}', { person: by }),
  ])
}

/** The analysis plan, and its hash once the session has been opened. */
function analysisWords({ plan, analysis_sha256: hash }) {
  const { dimension, first, second, margin, gold_within: gold, repeats_within_1: repeats, ...more } = plan.analysis
  const what =
    plan.mode === 'pairs' ? t('preference') : dimension === 'coherence' ? t('coherence') : t('physical consistency')
  const contrast = first
    ? t('{what}, {first} less {second}', { what, first, second })
    : t('{what}, the first source less the second', { what })
  const parts = listed([
    contrast,
    margin !== null && t('margin of equivalence {margin}', { margin }),
    gold !== null && t('gold scores within the tolerance at least {gold}', { gold }),
    repeats !== null && t('repeats at most 1 apart at least {repeats}', { repeats }),
    more.without_revealing && t('without traces that reveal their author'),
    t('closed {when}', { when: word(more.stopping) }),
    hash && `SHA-256 ${hash.slice(0, 12)}…`,
  ])
  return t('Analysis plan: {parts}', { parts })
}

function whenOf({ at }) {
  if (at.closed) return t('closed {when}', { when: dateAndTime(at.closed) })
  if (at.opened) return t('opened {when}', { when: dateAndTime(at.opened) })
  return t('created {when}', { when: dateAndTime(at.drawn) })
}
