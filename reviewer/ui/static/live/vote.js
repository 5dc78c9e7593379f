// The vote of several samples: the counts, the outcome, the windows of all samples, and where the traces differ.

import { h } from '../common/dom.js'
import { windowText } from '../common/format.js'
import { t } from '../common/language.js'
import { TONES, outcome, outcomeLabel } from './labels.js'
import { reasonList } from './trace.js'

const percent = (x) => `${Math.round(100 * x)}`

export class Vote {
  /**
   * @param {Run} run with a consensus
   * @param {number | null} redshift of its spectrum
   * @param {{onWindow: (id: string) => void, onStep: (sample: number, turn: number) => void}} callbacks
   *   a window of the tree was chosen, or a step of a sample
   */
  constructor(run, redshift, callbacks) {
    const { consensus } = run
    const verdict = outcome(run)
    this.on = callbacks
    this.samples = consensus.samples
    this.windows = windowsOfTree(consensus.paths, redshift)
    this.element = h(
      'article.vote',
      { 'aria-label': t('The vote') },
      verdict && h(`strong.outcome.${TONES[verdict]}`, outcomeLabel(verdict)),
      counts(consensus),
      fraction(consensus),
      consensus.ask && reasonList(consensus),
      h('h3', difference(consensus)),
      h('div.paths', this.#branches(consensus.paths)),
    )
  }

  /** Highlight every line of the tree with this window. @param {string} id */
  select(id) {
    for (const line of this.element.querySelectorAll('.path[data-window]')) {
      line.classList.toggle('selected', line.dataset.window === id)
      line.querySelector('.does')?.setAttribute('aria-pressed', String(line.dataset.window === id))
    }
    const line = this.element.querySelector('.path.selected')
    line?.scrollIntoView({ block: 'nearest' })
    // After a click on a line the arrow keys move the focus too.
    if (this.element.contains(document.activeElement)) line?.querySelector('.does')?.focus({ preventScroll: true })
  }

  /** A tree from top to bottom: common turns stay in one column, and each branch is indented. */
  #branches(nodes) {
    const list = nodes.map((node) => [this.#line(node), node.next?.length > 0 && this.#branches(node.next)])
    return nodes.length === 1 ? list : list.map((branch) => h('div.branch', branch))
  }

  #line(node) {
    const { turn, samples } = node
    const window = node.window && this.windows.find(({ id }) => id === idOf(node.window))
    const showTurn = (sample, text) => {
      const title = t('show turn {turn} of sample {sample}', { turn, sample: sample + 1 })
      return h('button.link', { title, onClick: () => this.on.onStep(sample, turn) }, text)
    }
    const who =
      samples.length === this.samples
        ? showTurn(samples[0], t('all'))
        : samples.map((sample, at) => [at > 0 && ' ', showTurn(sample, String(sample + 1))])
    const number = window && String(window.number)
    const title = window ? t('select it on the spectrum') : t('show it')
    const onClick = () => (window ? this.on.onWindow(window.id) : this.on.onStep(samples[0], turn))
    return h(
      'div.path',
      { 'data-window': window?.id },
      h('span.turn', { title: t('turn {turn}', { turn }) }, String(turn)),
      h(
        'button.does',
        { title, onClick },
        number && h('span.seen', { title: t('window {number} on the spectrum', { number }) }, number),
        does(node),
      ),
      this.samples > 1 && h('span.who', who),
    )
  }
}

/**
 * The windows of the tree as the spectrum draws them: each once, numbered from top to bottom. Windows with the same
 * text are one. The tree has observed wavelengths.
 */
function windowsOfTree(nodes, redshift) {
  const windows = new Map()
  const read = (node) => {
    const id = node.window && idOf(node.window)
    if (id && !windows.has(id)) {
      const [lo, hi] = node.window
      const place = { id, number: windows.size + 1, noun: 'window', lo, hi }
      windows.set(id, { ...place, frame: 'observed', z: redshift ?? 0, label: node.label })
    }
    node.next?.forEach(read)
  }
  nodes.forEach(read)
  return [...windows.values()]
}

const idOf = (window) => windowText(...window)

/** A bar of the answers, and the same in words. */
function counts({ samples, yes, no, none }) {
  const parts = [
    ['green', yes, 'YES'],
    ['red', no, 'NO'],
    ['grey', none, t('no answer')],
  ].filter(([, count]) => count > 0)
  const bars = parts.map(([tone, count]) => h(`span.${tone}`, { style: `width:${(100 * count) / samples}%` }))
  const words = parts.map(([tone, count, word], at) => [at ? ' · ' : '', h(`span.${tone}`, `${count} ${word}`)])
  const bar = h('div.bar', { 'aria-hidden': 'true' }, bars)
  return h('div.cast', bar, h('p', words, ' ', t('of {samples}', { samples })))
}

function fraction({ yes_fraction: share, interval, definition }) {
  if (share === null) return null
  const range = interval && ` (${t('{low} to {high} %', { low: percent(interval[0]), high: percent(interval[1]) })})`
  const summary = h('summary', `YES ${percent(share)} %`, range, h('span.about', t('what is this?')))
  return h('details.fraction', { title: definition }, summary, h('p', definition))
}

function difference({ parts_at: turn, samples }) {
  if (samples < 2) return t('The turns of the trace')
  return turn === null ? t('All samples took the same turns') : t('The traces differ from turn {turn}', { turn })
}

function does({ what, window, label, verdict }) {
  if (what === 'answer') return h(`strong.${TONES[verdict] ?? 'grey'}`, verdict ?? t('no verdict'))
  if (what === 'nothing') return h('span.muted', t('ends without an answer'))
  return [window ? windowText(...window) : t('a window that cannot be read'), label && h('span.muted', ` ${label}`)]
}
