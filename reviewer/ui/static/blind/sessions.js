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
    await this.#showErrors(async () => this.form.fill(await getJSON('/api/blind/setup')))
    await this.#listed()
  }

  #listed() {
    return this.#showErrors(async () => this.#draw(await getJSON('/api/blind/sessions')))
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
          'None yet. Choose on the left what is compared and who scores, check the preview, create the session.',
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
      h(
        `span.pill.${TONE[session.state]}`,
        {},
        session.state === 'closed' && !session.at.opened ? 'discarded' : session.state,
      ),
      h('span.muted', {}, whenOf(session)),
    )
    fill(
      this.about,
      h('p.muted', {}, planWords(session)),
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
    const { state, id, at } = this.session
    const button = (text, act, kind = '') => h(`button${kind}`, { type: 'button', onClick: act }, text)
    if (state === 'drawn')
      return [
        button('Open for scoring', () => this.#change('open'), '.primary'),
        button('Discard…', () => this.#close()),
      ]
    if (state === 'open') return [button('Close…', () => this.#close(), '.danger')]
    return at.opened
      ? [
          h('a', { href: `/api/blind/sessions/${id}/report.html`, target: '_blank', rel: 'noopener' }, 'Report'),
          h(
            'a',
            { href: `/api/blind/sessions/${id}/report.zip`, download: '' },
            'Report, tables (CSV) and raw scores as one file',
          ),
        ]
      : []
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
      this.draw(await postJSON(`/api/blind/sessions/${this.session.id}/${verb}`, { key: this.key[verb] })),
    )
    this.onChanged()
  }

  /** List the texts that may reveal their author, for a check before scorers see them. */
  #giveaways() {
    return this.#showErrors(async () => {
      const { id, mine } = this.session
      if (mine)
        return fill(
          this.found,
          h(
            'p.note',
            {},
            'You score in this session, so texts that may reveal their author are not listed for you. Another ' +
              'coordinator can check them, or the owner of the database file (spec-o3 blind giveaways).',
          ),
        )
      const found = await getJSON(`/api/blind/sessions/${id}/giveaways`)
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

  /** Show what preceded the session and, unless this person scores in it, the fingerprints of the sources. */
  #checks() {
    return this.#showErrors(async () => {
      const { id, mine } = this.session
      const under = `/api/blind/sessions/${id}`
      const [history, prints] = await Promise.all([
        getJSON(`${under}/history`),
        mine ? null : getJSON(`${under}/fingerprints`),
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

function planWords({ plan, drawn_by: by }) {
  const some = (list, none) => (list.length ? list.join(', ') : none)
  return [
    MODE[plan.mode],
    plan.items.length
      ? `${plan.items.length} chosen items`
      : `${some(plan.sources, 'every source')}; ${some(plan.tasks, 'every class')}`,
    plan.number && `${plan.number} of each`,
    `${plan.each === 1 ? 'one scorer' : `${plan.each} scorers`} per spectrum`,
    plan.repeats > 0 && `${plan.repeats} ${plan.repeats === 1 ? 'repeat' : 'repeats'} per scorer`,
    plan.gold.length > 0 && `${plan.gold.length} gold`,
    `seed ${plan.seed}`,
    by && `by ${by}`,
  ]
    .filter(Boolean)
    .join(' · ')
}

function whenOf({ at }) {
  const [word, time] = at.closed ? ['closed', at.closed] : at.opened ? ['opened', at.opened] : ['created', at.drawn]
  return `${word} ${new Date(time).toLocaleString('sv').slice(0, 16)}`
}
