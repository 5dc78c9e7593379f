// Types of what the server sends and of what the page offers to other scripts. Read by `make js` only.

/** The element that `h('div.card')` makes: the part before the first dot names it. */
type ElementOf<S extends string> = S extends `${infer T}.${string}`
  ? T extends keyof HTMLElementTagNameMap
    ? HTMLElementTagNameMap[T]
    : HTMLElement
  : S extends keyof HTMLElementTagNameMap
    ? HTMLElementTagNameMap[S]
    : HTMLElement

interface Window {
  Plotly: any
  /** The desks of this page, for tests and for links from one tab to another. */
  specO3: any
}

interface Person {
  initials: string
  name: string
  roles: string[]
  has_password: boolean
  rules: { solo: boolean; [rule: string]: any }
  version: string
  reasons: Record<string, string>
  scales: { qualities: Record<string, string>; issues: Record<string, string>; spectypes: string[] }
  problems: string[]
  backups: string
  clock: string
  tasks: Record<string, TaskText>
}

interface TaskText {
  title: string
  question: string
  guide: string
}

interface Keymap {
  groups: { title: string; keys: KeyEntry[] }[]
}

interface KeyEntry {
  key: string
  show?: string
  what: string
  action: string
  typing?: boolean
}

type Medium = 'air' | 'vacuum'
type Frame = 'observed' | 'rest'

interface Step {
  id: string
  kind: 'think' | 'zoom' | 'answer'
  /** of a think */
  text?: any
  /** of a zoom */
  arguments?: any
  frame?: any
  z?: any
  medium?: any
  observation?: any
  ok?: boolean
  picture?: any
  /** of a zoom that is not finished: what to show until then */
  pending?: string
  /** of an answer */
  verdict?: any
  explanation?: any
}

/** A window of a zoom, as the spectrum view draws it. */
interface StepWindow {
  id: string
  number: number | string
  lo: number
  hi: number
  frame: Frame
  z?: number
  label?: string
  noun?: string
  side?: string
  [more: string]: any
}

interface Mark {
  mark: string
  note?: string
}

interface Spectrum {
  wavelength: Float64Array
  flux: Float32Array | Float64Array
  ivar: Float64Array
  mask: Uint8Array
  frame: Frame
  medium: Medium
  redshift: number | null
  [more: string]: any
}

interface Atlas {
  lines: any[]
  bands: any[]
  /** the wavelengths of the task at rest, Å */
  range: {lo: number, hi: number, medium: Medium} | null
}

/** The items around one: the next and the previous, nearest first, and how many come before it */
interface Place {
  next: number[]
  back: number[]
  before: number
}

interface QueueRow {
  id: number
  name: string
  task: string
  survey: string
  snr: number | null
  drafter: { kind: string; name: string }
  batch: string
  simulated: boolean
  spectrum: string | null
  state: string
  version: number
  cast: number
  wanted: number
  disagreement: boolean
  held_by: string[]
  blind?: boolean
  /** whether name, batch and drafter are hidden until the person has given a verdict */
  hidden?: boolean
  /** the people to whom the item is assigned, the number of comments, and whether one is unread for this person */
  assigned?: string[]
  comments?: number
  unread?: boolean
}

/** A person who can be mentioned in a comment. */
interface Colleague {
  initials: string
  name: string
}

interface CommentSent {
  id: number
  /** null: imported, and its author is no person of this database */
  person: string | null
  /** where an imported comment comes from; '': written here */
  source: string
  text: string
  at: string
}

interface CommentThread {
  id: number
  /** '': about the whole item */
  step: string
  /** id and number of the version that was current when it was begun */
  version: number
  number: number
  resolved: boolean
  resolved_by: { person: string | null; at: string } | null
  comments: CommentSent[]
}

/** The comments of an item, as one person may see them. */
interface Discussion {
  threads: CommentThread[]
  /** number of comments by others that the person may not see yet */
  hidden: number
  /** the last comment that the person was shown; 0: none */
  read: number
  people: Colleague[]
}

/** Comments about one step: their number, that of open threads, and that of comments the person has not seen. */
interface StepThreads {
  comments: number
  open: number
  fresh: number
}

interface UnreadItem {
  item: number
  name: string
  comment: number
  /** null while only the number is shown */
  person: string | null
  text: string
  at: string | null
  mentioned: boolean
  hidden: boolean
}

interface Trajectory {
  steps: Step[]
  redshift: number | null
  medium: Medium
  overview: string | null
  faults: string[]
  spectrum: { sha256: string | null; [more: string]: any }
  [more: string]: any
}

/** A decision of the round that is open. `refusal`: why it is not possible; null if it is */
interface OfferedVerb {
  verb: string
  label: string
  refusal: string | null
  /** the same once a version with changes of the text is saved, as submitting does */
  refusal_if_changed: string | null
}

interface Decision {
  person: string
  round: string
  verb: string
  reason: string
  comment: string
}

interface Autosave {
  base: number
  at: string
  body: { steps: Step[]; comment: string }
}

/** What a person found in a spectrum; `z` in the medium of the spectrum. */
interface Inspection {
  person: string
  z: number | null
  quality: number | null
  issues: string
  spectype: string
  comment: string
}

/** `k` of `n`. */
interface Share {
  k: number
  n: number
}

/** One edit of the spectrum behind a tool call; `agent.trial.report.EditOutcome` describes it. */
interface TrialOutcome {
  /** place in the stored trial, which names the picture */
  number: number
  step: string
  edit: 'remove' | 'flip' | 'shift' | 'inject' | 'placebo'
  subject: string
  window: [number, number]
  frame: Frame
  medium: Medium
  energy: number
  verdict_before: string | null
  verdict_after: string | null
  score_before: number | null
  score_after: number | null
  claimed_before: boolean
  claimed_after: boolean
  followed: boolean
}

/** Evidence on trial; only `of_this_version` where another version was tried. */
interface Trial {
  of_this_version: boolean
  /** names it in the addresses of its pictures */
  key: string
  drafter: { kind: string; name: string }
  /** of the sampling of the policy; null where it always writes the same */
  temperature: number | null
  seed: number
  outcomes: TrialOutcome[]
  skipped: { step: string; edit: string | null; reason: string }[]
  necessity: Share
  sufficiency: Share
  placebo: Share
  still_claims: Share
  passed: boolean | null
}

/** A version of an item, `of` so many. */
interface Reading {
  number: number
  of: number
  author: string | null
  at: string
  trajectory: Trajectory
}

/** Another trace of the same spectrum. */
interface OtherTrace {
  id: number
  drafter: { kind: string; name: string }
  task: { key: string; title: string }
  state: string
  version: number
  answer: string | null
}

/** An item as `GET /api/v1/item/<id>` sends it. */
interface Item {
  id: number
  stamp: string
  row: QueueRow
  task: { key: string; title: string }
  trajectory: Trajectory
  hidden: boolean
  my_verdict: string | null
  /** why the drafter's answer is a default; null where the data allow an answer */
  draft_cannot_tell: string | null
  /** whether a person changed or confirmed such an answer */
  answer_confirmed: boolean
  originals: Step[]
  edited_by: Record<string, string>
  version: { id: number; number: number; author: string | null; reason: string; at: string }
  standing: {
    state: string
    round: string | null
    progress: string
    done: number
    needed: number
    disagreement: boolean
    decisions: Decision[]
    [more: string]: any
  }
  may: { edit: string | null; verbs: OfferedVerb[]; undo: boolean }
  marks: { mine: Record<string, Mark>; others: { person: string; step: string; mark: string; note: string }[] }
  trial: Trial | null
  /** what is to be changed, of an item that was returned */
  request: { person: string; comment: string; at: string } | null
  inspection: {
    mine: Inspection | null
    others: Inspection[]
    merged: {
      people: string[]
      z: number | null
      quality: number | null
      spectype: string
      issues: string
      secure: boolean
      conflict: string[]
    } | null
  }
  autosave: Autosave | null
}

/** What is drawn at once when an item is opened. */
interface LoadedItem {
  item: Item
  spectrum: Spectrum | null
  atlas: Atlas
  /** what came with the item, as it was then; `query`: the list for which it was requested */
  opening: Opening
  query: string
}

/** A part of a text that is tied to pixels, or to a step. Offsets are those of JavaScript strings. */
interface Span {
  start: number
  end: number
  kind: 'window' | 'wavelength' | 'line' | 'number' | 'verdict'
  status: 'ok' | 'stale' | 'unknown'
  /** Å on the axis of the spectrum's data */
  range: [number, number] | null
  /** the step it is about */
  about: string | null
  note: string
  /** the text that agrees with the data */
  new: string | null
}

interface Hint {
  level: string
  text: string
  /** how often this kind of hint is right, for the tooltip */
  why?: string
}

/** The page holds HTML elements; a query for another kind names it. */
interface ParentNode {
  querySelector<E extends Element = HTMLElement>(selectors: string): E | null
  querySelectorAll<E extends Element = HTMLElement>(selectors: string): NodeListOf<E>
}
interface Element {
  closest<E extends Element = HTMLElement>(selectors: string): E | null
}

/** A spectrum on the bench of the Live tab. */
interface BenchRow {
  id: string
  name: string
  survey: string
  snr: number | null
  simulated: boolean
  spectrum: string
  /** Its runs, oldest first, as the server had them when the page asked. */
  results: RunSummary[]
  /** The run shown last. */
  chosen?: string
}

/** What a list of runs shows of a run. */
interface RunSummary {
  run: string
  task: string
  policy: string
  samples: number
  started: string
  state: Run['state']
  outcome: string | null
  /** By sample. */
  verdicts: (string | null)[]
  progress?: string
  onTrial?: boolean
}

/** A spectrum of the library. */
interface LibraryRow {
  item: number
  name: string
  survey: string
  snr: number | null
  simulated: boolean
  task: string
}

interface Policy {
  key: string
  title: string
  note: string
  samples_ok: boolean
  /** Whether it is taken for a published Spec-o3 checkpoint. */
  checkpoint: boolean
}

/** What a run is started with: the named settings and optional limits. */
interface RunSettings {
  task: string
  policy: string
  samples: number
  [setting: string]: string | number | undefined
}

/** What the person chose last in the bar of the Live tab. */
interface RunOptions {
  task: string
  policy?: string
  prompt?: 'trained' | 'ours'
  samples: number
  settings: Record<string, number | undefined>
}

/** Median active seconds before a decision, in the Progress tab. */
interface TimeSpent {
  decisions: number
  median_seconds: number
}

/** The trial of one sample. `done` of `of` tool calls; `detail`: why it failed. */
interface LiveTrial {
  state: 'running' | 'done' | 'stopped' | 'failed'
  done: number
  of: number | null
  detail: string
  result: Trial | null
}

/** One sample of a run. */
interface LiveTraceState {
  overview: string | null
  maxTurns: number
  drafter: any
  steps: Step[]
  hints: Record<string, Hint[]>
  turn: number
  text: string
  thought: boolean
  call: any
  verdict: string | null
  ended: { reason: string; detail?: string; seconds: number; usage?: any; faults?: string[]; drafter: any } | null
  trial: LiveTrial | null
}

/** A run of the agent on a spectrum of the bench. */
interface Run {
  id: string
  bench: string
  spectrum: string
  task: string
  policy: string
  policyTitle: string
  samples: number
  state: 'running' | 'done' | 'stopped' | 'failed' | 'gone'
  traces: LiveTraceState[]
  consensus: any
  since: number
  lost: string
  stopping: boolean
  sent: Map<number, number>
  over: Promise<void>
  isOver: () => void
  [more: string]: any
}

/** What the data say about one version of an item, by step. */
interface Checks {
  hints: Record<string, Hint[]>
  spans: Record<string, Span[]>
  disagreements: { step: string; text: string }[]
}

/** The newest unread comments, and the number of all. */
interface UnreadComments {
  items: UnreadItem[]
  total: number
  /** the newest comment on any item */
  newest: number
}

/** An item and everything that the page shows with it. */
interface Opening {
  item: Item
  place: Place
  /** who works on the item so that this person cannot */
  held: { message: string; until: string } | null
  others: OtherTrace[]
  comments: Discussion
  /** null: not measured yet, or the answer is hidden */
  checks: Checks | null
  unread: UnreadComments
  /** grows with every change on the server */
  stamp: number
}
