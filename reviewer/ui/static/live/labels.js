// The texts of the Live tab: labels of runs and traces, and what is shown before the first run. Pure functions.

import { cap, h } from '../common/dom.js'
import { number, timeWithSeconds } from '../common/format.js'
import { shortTitle } from '../spectrum/item_header.js'
import { Keys } from '../common/keys.js'
import { BETWEEN, t, tn, withParts, word } from '../common/language.js'
import { guideElements } from '../common/panels.js'

/** An incomplete tag at the end of a text. */
const HALF_TAG = /<\/?[a-z_]*$/
const HALF_BOX = /\\(?:b(?:o(?:x(?:e(?:d\s*)?)?)?)?)?$/

/**
 * The parts of a turn's tagged text, as far as it has been written; the final steps come from the server.
 * @param {string} text
 * @returns {{thought: string, calling: boolean, answer: string | null}} `answer` is null until it begins
 */
export function partsOf(text) {
  const [call, answer] = ['<tool_call>', '<answer>'].map((tag) => text.indexOf(tag))
  const ends = [call, answer].filter((at) => at >= 0)
  const thought = ends.length ? text.slice(0, Math.min(...ends)) : text.replace(HALF_TAG, '')
  return {
    thought: thought.replace(/<\/?think>/g, '').trim(),
    calling: call >= 0,
    answer: answer < 0 ? null : unboxed(text.slice(answer + '<answer>'.length)),
  }
}

const unboxed = (/** @type {string} */ text) =>
  text
    .replace(/<\/answer>[\s\S]*/, '')
    .replace(HALF_TAG, '')
    .replace(/\\boxed\s*\{([^{}]*)\}?/, '$1')
    .replace(HALF_BOX, '')
    .trim()

/** E.g. 3.2 s, 14 s, 2 min 05 s. @param {number} seconds */
export function duration(seconds) {
  if (seconds < 9.95) return `${number(seconds, 1)} s`
  const whole = Math.round(seconds)
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`
}

/** E.g. "3 450 tokens read (2 900 from the cache), 512 written"; empty where not counted. @param {any} usage */
export function tokens(usage) {
  if (!usage || !(usage.prompt || usage.completion)) return ''
  const values = { read: number(usage.prompt), cached: number(usage.cached), written: number(usage.completion) }
  return usage.cached
    ? t('{read} tokens read ({cached} from the cache), {written} written', values)
    : t('{read} tokens read, {written} written', values)
}

/** Why a trace ended. @param {{reason: string, detail?: string}} ended @param {{maxTurns: number}} trace */
export function ending({ reason, detail }, { maxTurns }) {
  /** @type {Record<string, string>} */
  const withoutAnswer = {
    'turn limit': t('No answer in {maxTurns} turns. The limit can be set higher in the settings.', { maxTurns }),
    truncated: t('No answer, truncated. {detail}', { detail: detail ?? '' }),
    'no call and no answer': t('The agent ended its turn without a tool call and without an answer.'),
  }
  if (reason === 'answered') return { tone: '', text: '' }
  if (reason === 'stopped') return { tone: 'grey', text: t('Stopped by you. What was written until then is kept.') }
  if (reason in withoutAnswer) return { tone: 'amber', text: withoutAnswer[reason] }
  return { tone: 'red', text: detail || reason }
}

export function sampleLabel(trace) {
  if (!trace.ended) return trace.overview ? '…' : t('waiting')
  if (trace.verdict) return trace.verdict
  const words = { stopped: t('stopped'), truncated: t('truncated'), 'policy failed': t('failed') }
  return words[trace.ended.reason] ?? t('no answer')
}

/** @param {string} label */
export const outcomeLabel = (label) => (label === 'ask a person' ? t('Ask a person') : label)

/** @type {Record<string, string>} colours of outcomes */
export const TONES = { YES: 'green', NO: 'red', 'ask a person': 'amber' }

/**
 * The outcome of a finished run: YES, NO or "ask a person"; null where it failed or was stopped before any answer.
 * @param {Run} run @returns {string | null}
 */
export function outcome(run) {
  if (run.state === 'running') return null
  const answered = run.traces.some((trace) => trace.verdict)
  const whole = run.traces.some((trace) => trace.ended && !['stopped', 'policy failed'].includes(trace.ended.reason))
  if (run.consensus && (answered || whole)) return run.consensus.ask ? 'ask a person' : run.consensus.verdict
  return run.traces.length === 1 ? run.traces[0].verdict : null
}

/** The labels of runs without an outcome, where it is not the one of all others. @type {Record<string, string>} */
const WITHOUT_OUTCOME = { stopped: t('stopped'), failed: t('failed') }

/** A policy's title without its explanation, and how many samples: "nano ×3". @param {{samples: number}} run */
export const policyLabel = ({ samples }, /** @type {string} */ title) =>
  `${title.replace(/\s*[(（,，].*$/, '')}${samples > 1 ? ` ×${samples}` : ''}`

/** @param {Pick<RunSummary, 'verdicts'>} result */
const hasAnswer = ({ verdicts }) => verdicts.some((verdict) => verdict !== null)

/** The name of a sample of a run, e.g. "nano ×3, sample 2". @param {RunSummary | Run} run @param {string} title */
export const traceName = (run, title, sample = 0) =>
  run.samples > 1
    ? t('{run}, sample {number}', { run: policyLabel(run, title), number: sample + 1 })
    : policyLabel(run, title)

/** What came of a run: its progress, its answers, or why it has none. @param {RunSummary} result */
export function resultLabel({ state, outcome: label, samples, verdicts, progress }) {
  if (state === 'running') return progress ?? t('running')
  if (!label) return WITHOUT_OUTCOME[state] ?? t('no answer')
  if (samples === 1 || !hasAnswer({ verdicts })) return word(label)
  const [yes, no] = ['YES', 'NO'].map((verdict) => verdicts.filter((given) => given === verdict).length)
  const none = samples - yes - no
  return [yes && `${yes} YES`, no && `${no} NO`, none && `${none} ${t('no answer')}`].filter(Boolean).join(' ')
}

/** E.g. "nano ×3 · 1 YES 2 NO". @param {RunSummary} result @param {string} title of its policy */
export const runLabel = (result, title, question = '') =>
  [question && shortTitle(question), policyLabel(result, title), resultLabel(result)].filter(Boolean).join(' · ')

/** All that a tab leaves out. @param {RunSummary} result @param {string} title @param {string} question */
export const runTitle = (result, title, question) =>
  [
    title,
    question,
    tn('{n} sample', '{n} samples', result.samples),
    t('started {time}', { time: timeWithSeconds(result.started) }),
    resultLabel(result),
  ].join('\n')

/** The colour of a run's result. @param {RunSummary} result */
export const runTone = ({ state, outcome: label }) => TONES[label ?? ''] ?? (state === 'failed' ? 'red' : '')

/**
 * The run whose answer stands for the spectrum: the newest that answered; if none did, the newest with an outcome,
 * else the newest that is over. @param {RunSummary[]} results oldest first
 */
export function standing(results) {
  const over = results.filter(({ state }) => state !== 'running')
  const withOutcome = over.filter((result) => result.outcome)
  return withOutcome.filter(hasAnswer).at(-1) ?? withOutcome.at(-1) ?? over.at(-1)
}

/** The entry next to the one at a place, as far as the list goes. @template T @param {T[]} list @param {number} at */
export const neighbour = (list, at, by) => list[Math.max(0, Math.min(list.length - 1, at + by))]

/** @param {{onFiles: () => void, onLibrary: () => void, onTry: () => void}} callbacks ways to add a spectrum */
export function firstSteps({ onFiles, onLibrary, onTry }) {
  const what = t(
    'It thinks, requests a picture of a wavelength window, thinks again, and answers YES or NO. ' +
      'You see each step next to the spectrum, and decide what is kept.',
  )
  const files = t(
    'Drop FITS, CSV or text files anywhere on this page: LAMOST, SDSS, DESI and others are recognised by their layout.',
  )
  const ways = h(
    'div.buttons',
    h('button.primary', { onClick: onTry }, t('Try one from the library')),
    h('button', { onClick: onFiles }, t('Choose files'), ' ', cap(Keys.of('files'))),
    h('button', { onClick: onLibrary }, t('Search the library'), ' ', cap(Keys.of('library'))),
  )
  const choose = withParts(t('{choose} the question and the policy in the bar below.'), {
    choose: h('strong', t('Choose')),
  })
  const run = withParts(t('{run} {key} and watch. {stop} stops at any time.'), {
    ...{ run: h('strong', t('Run')), key: cap(Keys.of('run')), stop: cap(Keys.of('stop')) },
  })
  const policies = t('The measuring baseline is always available; a model needs a server.')
  const keys = withParts(t('{key} shows all keys.'), { key: cap(Keys.of('keys')) })
  return h(
    'div.welcome',
    h('h2', t('Watch the agent inspect a spectrum')),
    h('p', what),
    h(
      'ol',
      h('li', h('strong', t('Add a spectrum.')), BETWEEN, files, ways),
      h('li', choose, BETWEEN, policies),
      h('li', run),
    ),
    h('p.muted', t('Nothing is sent to the reviewers unless you send it.'), BETWEEN, keys),
  )
}

export function notRunYet({ task, policy, keys, onRun }) {
  const run = h('button.primary', { onClick: onRun }, t('Run'), ' ', cap(keys.of('run')))
  const buttons = h('div.buttons', run, h('span.muted', t('with {policy}', { policy: policy?.title ?? '' })))
  return h('div.welcome', h('h2', t('Not run yet')), guideElements(task?.question ?? ''), buttons)
}
