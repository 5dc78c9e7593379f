// What a trace shows, what a person does with its cards, and the marks to choose from.

import { t } from '../common/language.js'

/**
 * What the person does with the cards. A trace that cannot be edited needs `onSelect` and `onPicture` only.
 * @typedef {Object} TraceCallbacks
 * @property {(id: string) => void} onSelect
 * @property {(url: string) => void} onPicture
 * @property {(id: string, text: string) => void} [onText]
 * @property {(id: string, change: Partial<Step>) => void} [onAnswer]
 * @property {(id: string, lo: number, hi: number, visit: string) => void} [onWindow] `visit`: of the card's fields
 * @property {(id: string, label: string) => void} [onLabel]
 * @property {(id: string, mark: string) => void} [onMark]
 * @property {(after: string | null, kind: 'zoom' | 'think') => void} [onAdd]
 * @property {(id: string, by: number) => void} [onMove]
 * @property {(id: string) => void} [onRemove]
 * @property {(span: Span | null) => void} [onPoint] a part of a text is pointed at; null: no longer
 * @property {(span: Span) => void} [onSpan] a part of a text is chosen
 * @property {() => void} [onHistory] versions, decisions and votes are to be shown
 * @property {(id: string) => void} [onNote] a note is to be written on a step
 * @property {(id: string) => void} [onComment] the comments about a step are to be shown
 * @property {(id: string) => void} [onUpdate] the numbers in the texts of a step are to be written anew
 * @property {(id: string) => void} [onShared] the same window in the trace next to this one is chosen
 * @property {(message: string) => void} [onMistyped] an edge of a window cannot be read
 */

/**
 * What a trace shows.
 * @typedef {Object} TraceState
 * @property {Step[]} steps
 * @property {Map<string, Step>} originals the steps of the first version
 * @property {Record<string, string>} editedBy initials
 * @property {Record<string, Mark>} marks
 * @property {Record<string, Hint[] | undefined>} hints undefined while they are being measured
 * @property {Record<string, import('./statements.js').SpansOfText>} [spans] parts of the texts that are tied to pixels
 * @property {Record<string, StepThreads>} [threads] comments about the steps
 * @property {Record<string, {id: string, name: string, title: string}>} [shared] by step: the step with the same window
 *   in the trace next to this one
 * @property {boolean} editable
 * @property {boolean} markable
 * @property {any[]} [offered] the marks to choose from
 * @property {boolean} [hidden] whether only the windows are shown
 * @property {string[]} [faults] repaired while reading
 * @property {string | null} [overviewURL]
 * @property {(step: Step) => string | null} [pictureURL]
 * @property {any} [meta] of the spectrum: whether its medium is assumed
 * @property {Trial | OtherTrial | null} [trial] the evidence on trial
 * @property {string} [drafter] name of the policy that wrote the first version
 * @property {string} [by] who wrote this version, and the last decision on it
 * @property {string} [version] which version it is, if it is not the first
 * @property {Step[]} [tried] the steps of the version that was tried; undefined: `steps`
 * @property {(outcome: TrialOutcome, what: 'texts' | 'picture') => string} [trialURL] of what the policy wrote, or of
 *   the picture of the edited window
 */

/** The first two are on a card, the others in its menu. */
export const MARKS = [
  { mark: 'supported', short: t('supported'), key: 'y', good: true },
  { mark: 'not supported', short: t('unsupported'), key: '1' },
  { mark: 'hallucinated feature', short: t('hallucinated'), key: '2' },
  { mark: 'wrong frame', short: t('wrong frame'), key: '3' },
  { mark: 'needless zoom', short: t('needless'), key: '4', zoomOnly: true },
]
