// The form below a sheet: two scales with every anchor in words, or the choice between two traces; a comment; save.
// Also the list of sheets and the rubric.

import { cap, fill, h } from '../common/dom.js'
import { Keys } from '../common/keys.js'
import { t } from '../common/language.js'
import { openPanel } from '../common/panels.js'
import { CANNOT_TELL, canOpen } from './sheets.js'

export class BlindForm {
  /** @param {HTMLElement} root @param {import('./scoring.js').ScoringPage} page */
  constructor(root, page) {
    this.page = page
    this.scale = 'coherence' // the scale that a digit scores
    // The rubric is kept with its session, in its own language.
    this.questions = h('div.questions', { lang: 'en' })
    this.words = h('p.words', { lang: 'en', 'aria-live': 'polite' })
    this.comment = h('textarea.comment', {
      rows: 2,
      'aria-label': t('Comment'),
      placeholder: t('comment ({key})', { key: Keys.of('comment') }),
      onInput: ({ target }) => page.comment(target.value),
    })
    this.state = h('span.state', { role: 'status' })
    const saving = { onMousedown: keepFocus, onClick: () => page.save() }
    this.save = h('button.primary', saving, t('Save and next'), ' ', cap('Enter'))
    const sending = h('div.send', this.state, this.save)
    fill(root, h('div.asked', this.questions, this.words), h('div.said', this.comment, sending))
  }

  /** Show the form of a sheet. `rubric`: the session's; `answer`: the present one. */
  show(rubric, answer) {
    this.rubric = rubric
    this.answer = answer
    this.scale = answer.values.coherence === null || answer.values.consistency !== null ? 'coherence' : 'consistency'
    this.comment.value = answer.values.comment
    this.draw()
  }

  draw() {
    const { answer } = this
    fill(this.questions, answer.pair ? this.#choices() : this.rubric.scales.map((scale) => this.#scale(scale)))
    this.#showWords()
    this.save.disabled = !answer.complete
  }

  /** Show "saved", "not saved" or nothing. @param {string} text @param {boolean} highlight */
  showStatus(text, highlight = false) {
    this.state.textContent = text
    this.state.classList.toggle('look', highlight)
  }

  #scale(scale) {
    const value = this.answer.values[scale.key]
    const anchors = [
      ...scale.anchors.map((anchor) => ({ ...anchor, value: anchor.score, key: String(anchor.score) })),
      { ...this.rubric.cannot_tell, value: CANNOT_TELL, key: 't' },
    ]
    const title = {
      tabIndex: -1,
      title: scale.question,
      onMousedown: keepFocus,
      onClick: () => this.page.selectScale(scale.key),
      ...this.#describe(scale.question),
    }
    return h(
      `div.scale${this.scale === scale.key ? '.front' : ''}`,
      { role: 'radiogroup', 'aria-label': scale.title, 'data-scale': scale.key },
      h('button.title', title, scale.title),
      ...anchors.map((anchor) =>
        this.#option(anchor, value === anchor.value, () => this.page.score(scale.key, anchor.value)),
      ),
    )
  }

  #choices() {
    const { preference_question: question, choices } = this.rubric
    const { preference } = this.answer.values
    const options = choices.map((choice, at) =>
      this.#option({ ...choice, key: String(at + 1) }, preference === choice.key, () => this.page.choose(choice.key)),
    )
    const group = { role: 'radiogroup', 'aria-label': question }
    return [h('p.question', question), h('div.scale.choices', group, options)]
  }

  #option({ key, short, text }, chosen, onClick) {
    const props = {
      role: 'radio',
      'aria-checked': String(chosen),
      'aria-label': `${key}: ${short}. ${text}`,
      title: text,
      onMousedown: keepFocus,
      onClick,
      ...this.#describe(text, `${short}: `),
    }
    return h(`button.option${chosen ? '.chosen' : ''}`, props, cap(key), h('span', short))
  }

  /** Listeners that show a description while the pointer or the focus is there. */
  #describe(text, name = '') {
    const over = () => this.#showWords(name + text)
    const out = () => this.#showWords()
    return { onMouseenter: over, onFocus: over, onMouseleave: out, onBlur: out }
  }

  #showWords(words = this.#defaultWords()) {
    this.words.textContent = words
  }

  #defaultWords() {
    const { choices, scales } = this.rubric
    if (!this.answer.pair) return scales.find(({ key }) => key === this.scale).question
    return choices.find(({ key }) => key === this.answer.values.preference)?.text ?? ''
  }
}

/** Keep the focus where it is after a click, so that Enter still means "save and next". */
const keepFocus = (event) => event.preventDefault()

/** The list of sheets, numbered in the scorer's own order, and how many are answered. */
export class Places {
  /** @param {HTMLElement} root @param {import('./scoring.js').ScoringPage} page */
  constructor(root, page) {
    this.root = root
    this.page = page
  }

  draw() {
    const { work, at, session, current, onSessions } = this.page
    const { places } = session
    const done = places.filter((place) => place.answered).length
    const bar = {
      role: 'progressbar',
      'aria-valuenow': done,
      'aria-valuemax': places.length,
      'aria-label': t('answered'),
    }
    const which = { 'aria-label': t('Session'), onChange: ({ target }) => this.page.openSession(Number(target.value)) }
    const choices = work.map((part, value) =>
      h('option', { value, selected: value === at }, t('Session {session}', { session: part.session })),
    )
    fill(
      this.root,
      h(
        'div.queue-title',
        h('div.top', h('strong', t('Blind scoring'))),
        work.length > 1 && h('select.which', which, choices),
        h('div.bar', bar, h('span', { style: `width:${(100 * done) / places.length}%` })),
        h('div.muted.done', t('{done} of {all} answered', { done, all: places.length })),
      ),
      h('div.rows.places', ...['scores', 'pair'].map((kind) => this.#group(kind, places, current?.sheet.token))),
      onSessions && h('button.to-sessions', { onClick: onSessions }, t('Set up sessions')),
    )
    this.root.querySelector('.current')?.scrollIntoView({ block: 'nearest' })
  }

  #group(kind, places, token) {
    const ofKind = places.filter((place) => place.kind === kind)
    if (!ofKind.length) return null
    const button = (place) => {
      const state = canOpen(places, place) ? '' : place.answered ? t('final') : t('not yet open')
      const current = place.token === token
      const props = {
        'aria-label': [place.place, place.answered && t('answered'), state].filter(Boolean).join(', '),
        title: state,
        disabled: state !== '',
        'aria-current': String(current),
        onClick: () => this.page.open(place.token),
      }
      const tag = `button.place${place.answered ? '.answered' : ''}${current ? '.current' : ''}`
      return h(tag, props, String(place.place))
    }
    return [h('h3', kind === 'pair' ? t('Which is better') : t('Score')), h('div.grid', ofKind.map(button))]
  }
}

/** Show all keys, and the rubric of the session. @param {HTMLElement} keySheet @param {Rubric | undefined} rubric */
export function openRubric(keySheet, rubric) {
  const words = rubric && [
    h('div.rubric', { lang: 'en' }, rubric.scales.map(scaleWords), choiceWords(rubric), h('p.muted', rubric.note)),
    h('p.muted', t('Rubric {version}.', { version: rubric.version })),
  ]
  return openPanel(t('Keys and rubric'), h('div', words, keySheet), { wide: true })
}

const entry = (key, short, ...more) => [h('dt', cap(key)), h('dd', h('strong', short), ...more)]

function scaleWords({ title, question, anchors }) {
  const mark = h('span.pill', { title: t('this anchor is the published one') }, t('published'))
  const words = anchors.map(({ score, short, published, text }) =>
    entry(String(score), short, published && mark.cloneNode(true), ' ', text),
  )
  return h('section', h('h3', title), h('p', question), h('dl', words))
}

const choiceWords = ({ preference_question: question, choices, cannot_tell: { short, text } }) =>
  h(
    'section',
    h('h3', t('Which is better')),
    h('p', question),
    h('dl', ...choices.map((choice, at) => entry(String(at + 1), choice.short, ' ', choice.text))),
    h('h3', t('Either scale')),
    h('dl', entry(Keys.of('cannot-tell'), short, ' ', text)),
  )
