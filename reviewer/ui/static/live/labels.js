// What a run says of itself, in words. Pure functions.

import { cap, h } from '../common/dom.js'
import { number } from '../common/format.js'
import { guideElements } from '../common/panels.js'

/** The end of a text in which a tag may have begun. */
const HALF_TAG = /<\/?[a-z_]*$/
const HALF_BOX = /\\(?:b(?:o(?:x(?:e(?:d\s*)?)?)?)?)?$/

/**
 * A turn's tagged text, so far as it is written, as somebody would read it aloud.
 * Returns {thought, calling, answer}: `answer` is null until one is begun. What the steps say in the end is the server's.
 */
export function aloud(text) {
  const [call, answer] = ['<tool_call>', '<answer>'].map((tag) => text.indexOf(tag))
  const ends = [call, answer].filter((at) => at >= 0)
  const thought = ends.length ? text.slice(0, Math.min(...ends)) : text.replace(HALF_TAG, '')
  return {
    thought: thought.replace(/<\/?think>/g, '').trim(),
    calling: call >= 0,
    answer: answer < 0 ? null : unboxed(text.slice(answer + '<answer>'.length)),
  }
}

const unboxed = (text) =>
  text
    .replace(/<\/answer>[\s\S]*/, '')
    .replace(HALF_TAG, '')
    .replace(/\\boxed\s*\{([^{}]*)\}?/, '$1')
    .replace(HALF_BOX, '')
    .trim()

/** 3.2 s, 14 s, 2 min 05 s */
export function duration(seconds) {
  if (seconds < 9.95) return `${number(seconds, 1)} s`
  const whole = Math.round(seconds)
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`
}

/** "3 450 tokens read (2 900 from the cache), 512 written", empty where nobody counted. */
export function tokens(usage) {
  if (!usage || !(usage.prompt || usage.completion)) return ''
  const cached = usage.cached ? ` (${number(usage.cached)} from the cache)` : ''
  return `${number(usage.prompt)} tokens read${cached}, ${number(usage.completion)} written`
}

/** Why a trace ended, as a sentence for the person, and how loud it is to be said. */
export function ending({ reason, detail }, { maxTurns }) {
  switch (reason) {
    case 'answered':
      return { tone: '', text: '' }
    case 'stopped':
      return { tone: 'grey', text: 'Stopped by you. What was said until then is kept.' }
    case 'turn limit':
      return { tone: 'amber', text: `No answer in ${maxTurns} turns. The limit can be set higher in the settings.` }
    case 'no call and no answer':
      return { tone: 'amber', text: 'The agent ended its turn without looking and without an answer.' }
    default:
      return { tone: 'red', text: detail || reason }
  }
}

/** What is said of a sample on its chip. */
export function inShort(trace) {
  if (!trace.ended) return trace.overview ? '…' : 'waits'
  if (trace.verdict) return trace.verdict
  return { stopped: 'stopped', 'policy failed': 'failed' }[trace.ended.reason] ?? 'no answer'
}

export const TONES = { YES: 'green', NO: 'red', 'ask a person': 'amber' }

/** The outcome of a run that is over: YES, NO or "ask a person"; null where it failed or was stopped before anybody answered. */
export function outcome(run) {
  if (run.state === 'running') return null
  const answered = run.traces.some((trace) => trace.verdict)
  const whole = run.traces.some((trace) => trace.ended && !['stopped', 'policy failed'].includes(trace.ended.reason))
  if (run.consensus && (answered || whole)) return run.consensus.ask ? 'ask a person' : run.consensus.verdict
  return run.traces.length === 1 ? run.traces[0].verdict : null
}

export function firstSteps({ onFiles, onLibrary, onTry }) {
  return h(
    'div.welcome',
    {},
    h('h2', {}, 'Watch the agent inspect a spectrum'),
    h(
      'p',
      {},
      'It thinks, asks for a picture of a wavelength window, looks, thinks again, and answers YES or NO. You see each step beside the spectrum, and decide what is kept.',
    ),
    h(
      'ol',
      {},
      h(
        'li',
        {},
        h('strong', {}, 'Bring a spectrum. '),
        'Drop FITS, CSV or text files anywhere on this page: LAMOST, SDSS, DESI and others are known by their layout.',
        h(
          'div.buttons',
          {},
          h('button.primary', { type: 'button', onClick: onTry }, 'Try one from the library'),
          h('button', { type: 'button', onClick: onFiles }, 'Choose files ', cap('a')),
          h('button', { type: 'button', onClick: onLibrary }, 'Search the library ', cap('/')),
        ),
      ),
      h(
        'li',
        {},
        h('strong', {}, 'Choose'),
        ' the question and who is asked, in the bar below. The measuring baseline is always there; a model needs a server.',
      ),
      h('li', {}, h('strong', {}, 'Run'), ' ', cap('r'), ' and watch. ', cap('Esc'), ' stops at any moment.'),
    ),
    h('p.muted', {}, 'Nothing goes to the reviewers unless you send it. ', cap('?'), ' shows all keys.'),
  )
}

export function nothingYet({ task, policy, keys, onRun }) {
  return h(
    'div.welcome',
    {},
    h('h2', {}, 'Not asked yet'),
    guideElements(task?.question ?? ''),
    h(
      'div.buttons',
      {},
      h('button.primary', { type: 'button', onClick: onRun }, 'Run ', cap(keys.of('run'))),
      h('span.muted', {}, `asks ${policy?.title ?? ''}`),
    ),
  )
}
