// Types of the API's answers, written by `python -m tests.js.answer_types`. Read by `make js` only.

/** How well people agree, and the items on which they do not. */
interface Agreement {
  rounds: RoundAgreement[]
  rounds_of_last: number | null
  gold: GoldAgreement[]
  gold_items: number
  gold_meaning: string
  disagreements: ApartItems
  conflicts: InspectionConflicts
}

/** The meaning of one score. `published`: the words are those of the paper; the others are ours. */
interface Anchor {
  score: number
  short: string
  text: string
  published: boolean
}

/** The answer of a trace. */
interface AnswerStep {
  id: string
  kind: 'answer'
  verdict: 'YES' | 'NO' | null
  explanation: string
  /** log odds of YES, if the policy gave them */
  score?: number
}

/** An item on which people decided differently; `said`: number of decisions by round and verb. */
interface ApartItem {
  id: number
  name: string
  title: string
  state: 'screening' | 'revision' | 'returned' | 'audit' | 'vote' | 'adjudication' | 'approved' | 'rejected' | 'cannot tell' | 'withdrawn'
  said: Record<string, Record<string, number>>
}

/** The number of items on which people decided differently, and the latest of them. */
interface ApartItems {
  total: number
  items: ApartItem[]
}

/** An approved item, and how far its spectrum is from the one that is open. */
interface ApprovedItem {
  id: number
  name: string
  task: string
  verdict: 'YES' | 'NO' | null
  state: 'screening' | 'revision' | 'returned' | 'audit' | 'vote' | 'adjudication' | 'approved' | 'rejected' | 'cannot tell' | 'withdrawn'
  simulated: boolean
  distance: number
}

/** Lines, band heads and sky bands of a spectrum; `range` null: the task has no features. */
interface Atlas {
  lines: AtlasLine[]
  bands: AtlasBand[]
  range: AtlasRange | null
}

/** Observed wavelengths disturbed by the sky, the atmosphere or the join of two arms. */
interface AtlasBand {
  name: string
  lo: number
  hi: number
  medium: 'vacuum' | 'air'
  kind: 'sky line' | 'telluric' | 'arm join'
}

/** A line or band head, at rest; `major`: drawn by default, `task`: it belongs to the task. */
interface AtlasLine {
  name: string
  wavelength: number
  medium: 'vacuum' | 'air'
  kind: 'emission' | 'absorption' | 'both'
  major: boolean
  task: boolean
}

/** The wavelengths of a task, at rest. */
interface AtlasRange {
  lo: number
  hi: number
  medium: 'vacuum' | 'air'
}

/** The person's unsent text on a version; `at` identifies it. */
interface Autosave {
  base: number
  /** as the page sent it: steps and comment */
  body: Record<string, any>
  at: string
}

/** A spectrum on the bench with its runs, oldest first, and the outcome of the newest that answered. */
interface BenchSpectrum {
  id: string
  name: string
  survey: string
  snr: number | null
  /** its hash */
  spectrum: string
  simulated: boolean
  /** of the library; null: from a file */
  item: number | null
  runs: string[]
  results: RunListed[]
  verdict: string | null
  verdict_run: string | null
}

/** A session as its card shows it: the plan, and of the scoring only how far each person is. */
interface BlindSession {
  id: number
  name: string
  state: 'drawn' | 'open' | 'closed'
  /** in the form in which a plan is sent; its SHA-256 is in the log */
  plan: Record<string, any>
  /** null: from before versions were told apart */
  version: 'drafted' | 'approved' | 'both' | null
  /** null before the session was opened */
  analysis_sha256: string | null
  /** what the sampling left out, and why */
  notes: string[]
  drawn_by: string | null
  at: SessionTimes
  progress: ScorerProgress[]
  /** why the person may not see sources and results now; empty if they may */
  withheld: string
}

/** The candidates of a session; `sources`: the names that its sources can have, by version of the text. */
interface BlindSetup {
  strata: CandidateStratum[]
  sources: Record<string, string[]>
  tasks: Record<string, string>
  people: Colleague[]
  filter: CandidateFilters
}

/** An action that was done, or the undo of one. */
interface BulkActionDone {
  id: number
  kind: 'reject' | 'assign' | 'unassign' | 'batch' | 'undo'
  /** reason and comment, people, or batch; empty: others may not know */
  details: Record<string, any>
  items: number
  person: string
  at: string
  /** the action that this one has undone */
  undoes: number | null
  /** the action that has undone this one */
  undone: number | null
  may_undo: boolean
}

/** Past actions, newest first. */
interface BulkActions {
  actions: BulkActionDone[]
}

/** How many items go from one state, batch or assignment to another. */
interface BulkChange {
  from: string
  /** null: a state that depends on decisions of others that the person may not know yet */
  to: string | null
  items: number
}

/** Items that an action leaves out, and why; `first` has none of those that the person may not see. */
interface BulkLeftOut {
  why: string
  items: number
  first: number[]
}

/** What an action would do; `token` stands for this preview, `items` is the number that would change. */
interface BulkPreview {
  token: string
  items: number
  changes: BulkChange[]
  left_out: BulkLeftOut[]
}

/** Calibration and Brier error. */
interface CalibrationErrors {
  meaning: string
  text: string
  brier_meaning: string
  brier: string
}

/** The values by which candidates can be filtered. */
interface CandidateFilters {
  states: string[]
  survey: string[]
  batch: string[]
  listed: ItemList[]
}

/** The items of a source and task; `barred`: in how many of them each person was involved. */
interface CandidateStratum {
  source: string
  task: string
  items: number
  drafted: number
  approved: number
  barred: Record<string, number>
}

/** The main keys of a certificate, in the form of the files of `spec-o3 certify`. */
interface CertificateFile {
  /** name and release of its form */
  schema: string
  task: string
  made_at: string
  policy: Record<string, any>
  labels: Record<string, any>
}

/** A certificate, and whether it is in force. */
interface CertificateRow {
  file: string
  state: string
  is_valid: boolean
  text: string
}

/** Who returned an item, when, and what is to be changed. */
interface ChangeRequest {
  person: string
  comment: string
  at: string
}

/** What the data say about the tool calls and the texts of one version of an item. */
interface Checks {
  /** the hints on each tool call, by the id of its step */
  hints: Record<string, Hint[]>
  /** parts of each text that are tied to pixels, by the id of its step */
  spans: Record<string, Span[]>
  /** texts that differ from their tool calls */
  disagreements: StatementDisagreement[]
}

/** One answer to the question about a pair. */
interface Choice {
  key: 'left' | 'right' | 'equal' | 'both bad'
  short: string
  text: string
}

/** A person who can be mentioned in a comment. */
interface Colleague {
  initials: string
  name: string
}

/** A new comment; `thread` is the id of the first one of its thread. */
interface CommentAdded {
  id: number
  /** null: imported, and its author is no person of this database */
  person: string | null
  /** where an imported comment comes from; empty: written here */
  source: string
  text: string
  at: string
  thread: number
}

/** A comment. */
interface CommentSent {
  id: number
  /** null: imported, and its author is no person of this database */
  person: string | null
  /** where an imported comment comes from; empty: written here */
  source: string
  text: string
  at: string
}

/** A thread about an item or one of its steps. */
interface CommentThread {
  id: number
  /** empty: it is about the whole item */
  step: string
  /** id of the version when it was begun */
  version: number
  /** number of that version */
  number: number
  resolved: boolean
  resolved_by: ThreadResolved | null
  comments: CommentSent[]
}

/** A fact that the examples have in common, in words; `weight` in log odds. */
interface CommonFact {
  text: string
  weight: number
}

/** The mean velocity of the detected lines in km/s, and whether they agree on it. */
interface CommonVelocity {
  value: number
  error: number
  lines: number
  chi2: number
  agree: boolean
  text: string
}

/** The combined result of the samples; `verdict` null: `reasons` to ask a person. */
interface Consensus {
  samples: number
  yes: number
  no: number
  none: number
  leaning: 'YES' | 'NO' | null
  verdict: 'YES' | 'NO' | null
  ask: boolean
  reasons: string[]
  yes_fraction: number | null
  interval: [number, number] | null
  definition: string
  snr: number | null
  score: number | null
  /** the first turn in which the samples differ */
  parts_at: number | null
  paths: ConsensusNode[]
}

/** What several samples, by number from 0, have in common in one turn. */
interface ConsensusNode {
  turn: number
  samples: number[]
  what: 'look' | 'answer' | 'nothing'
  /** observed Å in the medium of the spectrum */
  window: [number, number] | null
  label: string
  verdict: 'YES' | 'NO' | null
  next: ConsensusNode[]
}

/** The version of an item that is judged now. */
interface CurrentVersion {
  id: number
  number: number
  author: string | null
  reason: string
  at: string
}

/** Decided items by outcome; `fraction` is approved / (approved + rejected). */
interface DecidedItems {
  approved: number
  rejected: number
  cannot_tell: number
  fraction: number | null
}

/** A decision that a person made. */
interface Decision {
  person: string
  round: 'screening' | 'revision' | 'audit' | 'vote' | 'adjudication' | null
  verb: 'keep' | 'reject' | 'submit' | 'pass' | 'return' | 'approve' | 'abstain' | 'undo' | 'withdraw' | 'restore'
  reason: string
  comment: string
}

/** The state of an item after a decision, and the opening of the next item if the request names one. */
interface DecisionMade {
  progress: string
  done: number
  needed: number
  state: 'screening' | 'revision' | 'returned' | 'audit' | 'vote' | 'adjudication' | 'approved' | 'rejected' | 'cannot tell' | 'withdrawn'
  /** changes with each version and decision of the item */
  stamp: string
  /** whether the item is still in the list of the filter */
  listed?: boolean
  /** left out where the next item cannot be opened */
  opening?: Opening
}

/** The state of an item after an undo. */
interface DecisionUndone {
  state: 'screening' | 'revision' | 'returned' | 'audit' | 'vote' | 'adjudication' | 'approved' | 'rejected' | 'cannot tell' | 'withdrawn'
  stamp: string
}

/** Items on whose current version two people decided differently, among those on which two decided. */
interface DisagreementShare {
  disagreed: number
  compared: number
  fraction: number | null
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

/** Nothing but that the request was carried out. */
interface Done {
}

/** What wrote a draft; `withheld` until the person has given a verdict. */
interface Drafter {
  kind: 'baseline' | 'model' | 'person' | 'unknown' | 'withheld'
  name: string
}

/** What wrote a draft, with the settings that it states. */
interface DrafterSettings {
  kind: 'baseline' | 'model' | 'person' | 'unknown' | 'withheld'
  name: string
  settings: Record<string, any>
}

/** A session that was opened earlier and showed `items` of the same items. */
interface EarlierSession {
  session: number
  opened: string
  items: number
  /** who score in both */
  scorers: string[]
}

/** What the policy wrote on an edited spectrum, and on the spectrum as it is. */
interface EditTexts {
  after: string
  /** empty: not stored */
  before: string
}

/** A statistic with its interval, or the reason why it has none; `text` is the form to show. */
interface Estimate {
  value: number | null
  low: number | null
  high: number | null
  /** number of `n_of` in the calculation */
  n: number
  n_of: string
  definition: string
  reason: string
  detail: Record<string, any>
  text: string
}

/** Exports, newest first. */
interface ExportList {
  exports: ExportListed[]
}

/** An export, and what is in it. */
interface ExportListed {
  id: number
  name: string
  person: string
  at: string
  /** numbers of what is in it, some of them by name: of a task, a verdict, a drafter or a prompt */
  counts: Record<string, number | Record<string, number>>
}

/** The main keys of a manifest, which is the file `manifest.json` of an export. */
interface ExportManifest {
  /** name and release of its form */
  schema: string
  /** how many people had to decide */
  rules: Record<string, any>
  /** everybody who wrote or decided */
  people: string[]
  /** whether an item was approved by one person only */
  one_person: boolean
  /** numbers of what is in it, some of them by name: of a task, a verdict, a drafter or a prompt */
  counts: Record<string, number | Record<string, number>>
  /** hashes of the files by name */
  files: Record<string, string>
  /** the items with their history */
  items: Record<string, any>[]
}

/** How far an export is that a script started: `done` of `total` items are written. */
interface ExportState {
  name: string
  state: 'running' | 'done' | 'failed'
  done: number
  total: number
  /** its number once it is done */
  export: number | null
  /** why it failed; empty otherwise */
  error: string
}

/** The single exposures of a spectrum. */
interface Exposures {
  exposures: SingleExposure[]
}

/** The values by which the queue can be filtered. */
interface Facets {
  task: string[]
  survey: string[]
  drafter: string[]
  batch: string[]
  state: ('screening' | 'revision' | 'returned' | 'audit' | 'vote' | 'adjudication' | 'approved' | 'rejected' | 'cannot tell' | 'withdrawn')[]
  trial: string[]
  order: string[]
  assigned: string[]
  /** names of people by initials, also of those who have left */
  names: Record<string, string>
}

/** The spectra of files, and why others cannot be read. */
interface FilesAdded {
  added: BenchSpectrum[]
  problems: string[]
}

/** Length, steps, pictures and wording of the sources, and how well they tell the sources apart. */
interface Fingerprints {
  traces: Record<string, number>
  medians: Record<string, Record<string, number>>
  layout: Separation
  wording: Separation
  both: Separation
  sentence: string
  features: Record<string, string>
  pictures: Record<string, Record<string, number>>
}

/** Rows that a search has found; `stamp` grows with every change of an item. */
interface FoundItems {
  rows: FoundRow[]
  total: number
  stamp: number
}

/** A row of the queue that a search has found. */
interface FoundRow {
  id: number
  name: string
  task: string
  survey: string
  snr: number | null
  drafter: Drafter
  batch: string
  simulated: boolean
  /** its hash, or its alias while the answer is hidden */
  spectrum: string | null
  state: 'screening' | 'revision' | 'returned' | 'audit' | 'vote' | 'adjudication' | 'approved' | 'rejected' | 'cannot tell' | 'withdrawn'
  version: number
  cast: number
  wanted: number
  disagreement: boolean
  held_by: string[]
  /** present and true while name, batch and drafter are hidden from the person */
  hidden?: boolean
  assigned: string[]
  /** number of comments, those counted that the person may not see yet */
  comments: number
  unread: boolean
  /** the person scores it in a blind session, so the rest is left out */
  blind: boolean
  snippets: Snippet[]
}

/** A passage that tells the source of a trace; `step` from 1, 0: the first picture. */
interface Giveaway {
  item: number
  source: string
  step: number
  words: string
  kind: 'model' | 'company' | 'machine' | 'baseline' | 'label' | 'prompt' | 'file' | 'designation' | 'picture'
  sentence: string
}

/** How often a person's own verdicts agree with known labels. */
interface GoldAgreement {
  person: string
  right: Estimate
  cannot_tell: number
}

/** A group with the numbers of all its items. */
interface GroupMembers {
  number: number
  /** sentences */
  facts: string[]
  words: string[]
  items: number[]
}

/** A measurement beside a tool call or a thought. `level` ok: right on real spectra in at least 95 % of the cases; look: asks for attention; plain: a fact. */
interface Hint {
  level: 'ok' | 'look' | 'plain'
  kind: string
  text: string
  /** how often this kind of hint is right */
  why: string
}

/** The versions and decisions of an item, oldest first; `withheld`: only what is open to the person. */
interface History {
  withheld: boolean
  versions: VersionText[]
  decisions: RecordedDecision[]
}

/** What a person found in a spectrum; `z` in the medium and frame of the spectrum. */
interface Inspection {
  person: string
  z: number | null
  quality: number | null
  issues: string
  spectype: string
  comment: string
}

/** An item that people inspected with different results. */
interface InspectionConflict {
  id: number
  name: string
  title: string
  conflict: string[]
  found: InspectionResult[]
}

/** The number of such items, and the latest of them; `of_last`: only so many items were compared. */
interface InspectionConflicts {
  total: number
  of_last: number | null
  items: InspectionConflict[]
}

/** What one person found in a spectrum. */
interface InspectionResult {
  person: string
  z: number | null
  quality: number | null
  type: string
}

/** The inspections of a spectrum that the person may see. */
interface Inspections {
  mine: Inspection | null
  others: Inspection[]
  merged: MergedInspection | null
}

/** An item for one person; what they must not see yet is left out. */
interface Item {
  id: number
  /** changes with each version and decision */
  stamp: string
  row: QueueRow
  task: ItemTask
  trajectory: Trajectory
  /** why the drafter's answer is a default; null where the data allow an answer */
  draft_cannot_tell: string | null
  /** whether a person changed or confirmed such an answer */
  answer_confirmed: boolean
  /** the person has to give their own verdict first */
  hidden: boolean
  my_verdict: 'YES' | 'NO' | 'cannot tell' | null
  /** the steps of the draft, once there is another version */
  originals: (ThinkStep | ZoomStep | AnswerStep)[]
  /** who last changed a step, by step */
  edited_by: Record<string, string>
  version: CurrentVersion
  assigned: string[]
  standing: ItemStanding
  may: Permissions
  marks: Marks
  /** of an item that was returned */
  request: ChangeRequest | null
  trial: Trial | OtherTrial | null
  inspection: Inspections
  autosave: Autosave | null
}

/** A group with its size, the number of items by state, and its most typical items. */
interface ItemGroup {
  number: number
  /** sentences */
  facts: string[]
  words: string[]
  size: number
  states: Record<string, number>
  typical: ListedRow[]
}

/** How far a grouping is, from 0 to 1, and its groups, the largest first. */
interface ItemGroups {
  state: 'waiting' | 'running' | 'done' | 'failed' | 'stopped' | 'none'
  progress: number
  /** number of items that are grouped */
  items: number
  /** number of items that are not indexed yet */
  missing: number
  groups: ItemGroup[]
}

/** The hints on each tool call of an item, by step. */
interface ItemHints {
  hints: Record<string, Hint[]>
}

/** A saved list of `items` items. */
interface ItemList {
  id: number
  name: string
  person: string
  items: number
}

/** The standing of an item, as far as the person may know it. */
interface ItemStanding {
  progress: string
  done: number
  needed: number
  state: 'screening' | 'revision' | 'returned' | 'audit' | 'vote' | 'adjudication' | 'approved' | 'rejected' | 'cannot tell' | 'withdrawn'
  round: 'screening' | 'revision' | 'audit' | 'vote' | 'adjudication' | null
  disagreement: boolean
  decisions: Decision[]
  /** of earlier versions: shown, but not counted */
  stale: Decision[]
  /** number of decisions that the person may not see yet */
  withheld: number
  solo: boolean
}

/** The task of an item. */
interface ItemTask {
  key: string
  title: string
}

/** A label that may be wrong. */
interface LabelSuspect {
  item: number
  name: string
  label: 'YES' | 'NO'
  p_yes: number
  reason: string
  source: string
}

/** The labels that may be wrong, of `total`; `hidden`: why some are not listed. */
interface LabelSuspects {
  total: number
  items: LabelSuspect[]
  reason: string
  meaning: string
  hidden: string
}

/** The last comment that is read; 0: none. */
interface LastRead {
  comment: number
}

/** The right to decide on an item; `lease` is its token. `ended`: after the person's own decision. */
interface Lease {
  lease: string
  round: 'screening' | 'revision' | 'audit' | 'vote' | 'adjudication'
  until: string
  ended: boolean
}

/** Why a person cannot work on an item: another person does. */
interface LeaseHeld {
  message: string
  until: string
}

/** The lease of an item, and the state of the item. */
interface LeaseTaken {
  lease: string
  round: 'screening' | 'revision' | 'audit' | 'vote' | 'adjudication'
  until: string
  ended: boolean
  stamp: string
}

/** An item whose spectrum can be put on the bench. */
interface LibraryRow {
  item: number
  name: string
  task: string
  survey: string
  snr: number | null
  spectrum: string
  simulated: boolean
}

/** A line at one redshift, measured in the rest frame and medium of the spectrum. */
interface LineMeasured {
  centroid: Quantity | null
  /** km/s against the redshift used */
  velocity: Quantity | null
  /** km/s, as seen, the spectrograph's own width included */
  fwhm: Quantity | null
  /** at rest, absorption > 0 */
  ew: Quantity | null
  /** what covers its centre: a sky line, a telluric band or an arm join */
  sky: string
  /** why there are no numbers, or why they are not certain */
  reason: string
  /** false where the peak may be another line */
  certain: boolean
}

/** A line at the redshift of the file and at zero; `rest`: its wavelength in the medium of the spectrum. */
interface LineRow {
  name: string
  species: string
  rest: number
  /** it is one of the features of the task */
  of_task: boolean
  at_z: LineMeasured
  at_zero: LineMeasured
  sky: string
}

/** All lines of a class in a spectrum. */
interface LineTable {
  z: number | null
  z_known: boolean
  medium: 'vacuum' | 'air'
  medium_assumed: boolean
  rows: LineRow[]
  /** against the redshift of the file, or zero without one */
  velocity: CommonVelocity | null
  velocity_at_zero: CommonVelocity | null
}

/** A row of a list, with what people do together on the item. */
interface ListedRow {
  id: number
  name: string
  task: string
  survey: string
  snr: number | null
  drafter: Drafter
  batch: string
  simulated: boolean
  /** its hash, or its alias while the answer is hidden */
  spectrum: string | null
  state: 'screening' | 'revision' | 'returned' | 'audit' | 'vote' | 'adjudication' | 'approved' | 'rejected' | 'cannot tell' | 'withdrawn'
  version: number
  cast: number
  wanted: number
  disagreement: boolean
  held_by: string[]
  /** present and true while name, batch and drafter are hidden from the person */
  hidden?: boolean
  assigned: string[]
  /** number of comments, those counted that the person may not see yet */
  comments: number
  unread: boolean
  /** the person scores it in a blind session, so the rest is left out */
  blind: boolean
}

/** Rows of items that were named. */
interface ListedRows {
  rows: ListedRow[]
}

/** A policy that can be run; `samples_ok`: several samples are not all the same. */
interface LivePolicy {
  key: string
  title: string
  kind: 'baseline' | 'nano' | 'specialist' | 'server' | 'local' | 'replay'
  note: string
  samples_ok: boolean
  /** whether it is taken for a published Spec-o3 checkpoint */
  checkpoint: boolean
}

/** The planes of a class. */
interface Loci {
  plots: LocusPlot[]
}

/** What an axis shows; no unit: a ratio. */
interface LocusAxis {
  name: string
  unit: string
}

/** The spectrum in a plane, with 1σ errors. */
interface LocusPlace {
  x: number
  y: number
  x_error: number
  y_error: number
}

/** A plane that separates classes. */
interface LocusPlot {
  title: string
  x: LocusAxis
  y: LocusAxis
  points: LocusPoint[]
  this: LocusPlace | null
  /** why the spectrum is not in it */
  reason: string
}

/** A template in a plane. */
interface LocusPoint {
  x: number
  y: number
  class: string
  name: string
}

/** The result of verifying the log. */
interface LogChecked {
  /** the first of them; empty: nothing was changed */
  faults: string[]
  /** number of faults that are not listed */
  more_faults: number
  entries: number
  /** number and hash of the newest entry */
  head: string
  seconds: number
}

/** Who did what, and when. */
interface LogEntry {
  number: number
  at: string
  /** null: the owner of the file, or a visitor who is not signed in */
  person: string | null
  what: string
  subject: string
  /** values by name, which depend on what was done */
  details: Record<string, any>
  /** details in words; empty: `details` has them */
  said: string
}

/** Entries, newest first, and the values by which they can be filtered. */
interface LogPage {
  entries: LogEntry[]
  /** the number below which the next page begins; null: there is none */
  next: number | null
  kinds: string[]
  people: string[]
  /** number and hash of the newest entry */
  head: string
}

/** A person's own mark on a step. */
interface Mark {
  mark: 'supported' | 'not supported' | 'hallucinated feature' | 'wrong frame' | 'needless zoom' | 'cleared'
  note: string
}

/** When a mark was saved. */
interface MarkSaved {
  at: string
}

/** Marks on the steps of a version; `mine` by step. */
interface Marks {
  mine: Record<string, Mark>
  others: OthersMark[]
}

/** A flux; `unit` is that of the spectrum times Å. */
interface MeasuredFlux {
  value: number
  error: number
  unit: string
}

/** What lies between two continuum points, in the frame and medium of the window. */
interface Measurement {
  /** absorption > 0 */
  ew: Quantity | null
  /** emission > 0 */
  flux: MeasuredFlux | null
  centroid: Quantity | null
  fwhm: Quantity | null
  /** wavelength and flux of the two points */
  continuum: [number, number][] | null
  /** why a number is missing; empty if none is */
  reason: string
}

/** The inspections of several people as one result; `conflict` is what a third person has to decide. */
interface MergedInspection {
  people: string[]
  z: number | null
  quality: number | null
  spectype: string
  issues: string
  secure: boolean
  conflict: string[]
}

/** The next item by value of information; `id` null: none with P(YES) waits. */
interface NextByValue {
  id: number | null
  arm: string | null
  probability: number | null
}

/** The next item that waits; `from_start`: the search began again at the first. */
interface NextItem {
  id: number | null
  from_start: boolean
}

/** No script has started an export since the server started. */
interface NoExport {
  state: 'none'
}

/** No item of the policy has a P(YES). */
interface NoScores {
  tasks: Record<string, string>
  task: string
  policies: PolicyItems[]
  policy: string
  may_download: boolean
  scored: null
  why_not: string
  /** what a coordinator has to start on the server */
  command: string | null
}

/** A decision of the round that is open. */
interface OfferedVerb {
  verb: 'keep' | 'reject' | 'submit' | 'pass' | 'return' | 'approve' | 'abstain' | 'undo' | 'withdraw' | 'restore'
  label: string
  /** why it is not possible; null if it is */
  refusal: string | null
  /** the same once a version with changes of the text is saved, as submitting does */
  refusal_if_changed: string | null
}

/** The description of an API in the form of OpenAPI 3.1 (https://spec.openapis.org/oas/v3.1.0). */
interface OpenApi {
  openapi: string
  info: Record<string, any>
  paths: Record<string, any>
  components: Record<string, any>
}

/** An item and everything that the page shows with it, in one answer. */
interface Opening {
  item: Item
  place: Place
  held: LeaseHeld | null
  /** other traces of the same spectrum */
  others: OtherTrace[]
  comments: Discussion
  /** None: not measured since the server was started, or the answer of the item is hidden */
  checks: Checks | null
  /** the person's unread comments on all items */
  unread: UnreadComments
  /** grows with every change of an item; read before the rest */
  stamp: number
}

/** Another trace of the same spectrum. */
interface OtherTrace {
  id: number
  drafter: Drafter
  task: ItemTask
  state: 'screening' | 'revision' | 'returned' | 'audit' | 'vote' | 'adjudication' | 'approved' | 'rejected' | 'cannot tell' | 'withdrawn'
  version: number
  answer: 'YES' | 'NO' | null
}

/** Other traces of the same spectrum that the person may see. */
interface OtherTraces {
  others: OtherTrace[]
}

/** Another version of the text was tried, not this one. */
interface OtherTrial {
  of_this_version: false
}

/** A mark by another person. */
interface OthersMark {
  mark: 'supported' | 'not supported' | 'hallucinated feature' | 'wrong frame' | 'needless zoom' | 'cleared'
  note: string
  step: string
  person: string
}

/** What the person may do with an item. */
interface Permissions {
  verbs: OfferedVerb[]
  /** why editing is not possible; null if it is */
  edit: string | null
  undo: boolean
}

/** Who sent the request, the rules in force, and words that the page needs. */
interface Person {
  initials: string
  name: string
  roles: string[]
  has_password: boolean
  rules: Rules
  version: string
  reasons: Record<string, string>
  scales: Scales
  /** task files that were left out */
  problems: string[]
  /** what is wrong with the backups, for coordinators; empty: nothing */
  backups: string
  /** a warning that the server's clock was set back; empty: it was not */
  clock: string
  tasks: Record<string, TaskText>
}

/** How often a person is right; `compared`: of their `votes`, those with a known label or others' votes. */
interface PersonSkill {
  person: string
  votes: number
  compared: number
  sensitivity: Estimate
  specificity: Estimate
}

/** The model that a survey's pipeline fitted, on the pixels of the spectrum and in its flux unit. */
interface PipelineModel {
  name: string
  flux: number[]
}

/** The items around one: the next and the previous, nearest first, and how many come before it. */
interface Place {
  next: number[]
  back: number[]
  before: number
}

/** Whether a policy can be run now; `sentence` says what to do if not. */
interface PolicyHealth {
  ok: boolean
  sentence: string
  /** empty: there is none */
  model: string
  /** empty: not reported, as is the version */
  server: string
  version: string
  /** in tokens; null: not reported */
  context: number | null
  /** requests of all clients; null: not reported */
  running: number | null
  waiting: number | null
  /** it did not answer in time, which a busy server does not either */
  late: boolean
}

/** A policy with the number of its items, and of those with P(YES). */
interface PolicyItems {
  name: string
  items: number
  scored: number
}

/** The power of a session, one sentence per true difference. */
interface PowerInWords {
  sentences: string[]
}

/** The numbers of the Progress tab; days are UTC dates. */
interface ProgressFigures {
  by_task: Record<string, Record<string, number>>
  by_person: Record<string, Record<string, number>>
  time_meaning: string
  versions_by: Record<string, number>
  time_by_person: Record<string, Record<string, TimeSpent>>
  assigned: Record<string, Record<string, number>>
  disagreement: DisagreementShare
  yielded: DecidedItems
  per_day: Record<string, Record<string, number>>
  decided_per_day: Record<string, DecidedItems>
  tasks: Record<string, string>
  batches: string[]
  at: string
}

/** A value with its 1σ error, with as many digits as the error supports; an error of 0: not known. */
interface Quantity {
  value: number
  error: number
}

/** Rows of the queue; `stamp` grows with every change of an item. */
interface QueuePage {
  rows: ListedRow[]
  total: number
  stamp: number
}

/** A row of the queue: `cast` of the `wanted` decisions of the present round are made. */
interface QueueRow {
  id: number
  name: string
  task: string
  survey: string
  snr: number | null
  drafter: Drafter
  batch: string
  simulated: boolean
  /** its hash, or its alias while the answer is hidden */
  spectrum: string | null
  state: 'screening' | 'revision' | 'returned' | 'audit' | 'vote' | 'adjudication' | 'approved' | 'rejected' | 'cannot tell' | 'withdrawn'
  version: number
  cast: number
  wanted: number
  disagreement: boolean
  held_by: string[]
  /** present and true while name, batch and drafter are hidden from the person */
  hidden?: boolean
}

/** A number that grows with every change of an item. */
interface QueueStamp {
  stamp: number
}

/** Items by how much they are like the examples; `indexed` of `items` were ranked. */
interface RankedItems {
  rows: RankedRow[]
  /** too few examples to show a kind; scores are likeness of text and spectrum */
  few: boolean
  /** number of items above which `purity` of them are expected to be of the kind; 0: none can be suggested */
  cut: number
  purity: number
  /** the items above the cut */
  ids: number[]
  reasons: CommonFact[]
  /** number of examples that are indexed */
  used: number
  indexed: number
  items: number
  /** false: items are still being indexed */
  complete: boolean
}

/** A row of the queue with its probability to be of the kind of the examples. */
interface RankedRow {
  id: number
  name: string
  task: string
  survey: string
  snr: number | null
  drafter: Drafter
  batch: string
  simulated: boolean
  /** its hash, or its alias while the answer is hidden */
  spectrum: string | null
  state: 'screening' | 'revision' | 'returned' | 'audit' | 'vote' | 'adjudication' | 'approved' | 'rejected' | 'cannot tell' | 'withdrawn'
  version: number
  cast: number
  wanted: number
  disagreement: boolean
  held_by: string[]
  /** present and true while name, batch and drafter are hidden from the person */
  hidden?: boolean
  assigned: string[]
  /** number of comments, those counted that the person may not see yet */
  comments: number
  unread: boolean
  /** the person scores it in a blind session, so the rest is left out */
  blind: boolean
  score: number
}

/** A version of an item, `of` so many. */
interface Reading {
  number: number
  of: number
  author: string | null
  at: string
  trajectory: Trajectory
}

/** A decision in the history of an item; the last three keys only of decisions that are open to the person. */
interface RecordedDecision {
  person: string
  round: 'screening' | 'revision' | 'audit' | 'vote' | 'adjudication' | null
  verb: 'keep' | 'reject' | 'submit' | 'pass' | 'return' | 'approve' | 'abstain' | 'undo' | 'withdraw' | 'restore'
  reason: string
  comment: string
  version?: number
  at?: string
  withdrawn?: boolean
}

/** `n` spectra with a mean P(YES), and the share of YES among them with its interval of 95 %. */
interface ReliabilityBin {
  n: number
  mean: number
  share: number
  low: number
  high: number
}

/** The share of YES by P(YES). */
interface ReliabilityDiagram {
  bins: ReliabilityBin[]
}

/** Unsent text of another page of the same person. */
interface ReplacedText {
  at: string
  body: Record<string, any>
}

/** How well people agree in a round; `task` null: over all tasks. */
interface RoundAgreement {
  round: 'screening' | 'revision' | 'audit' | 'vote' | 'adjudication'
  task: string | null
  title: string
  raw: Estimate
  alpha: Estimate
}

/** All questions to a scorer and all possible answers. */
interface Rubric {
  version: string
  note: string
  cannot_tell: Wording
  scales: Scale[]
  preference_question: string
  choices: Choice[]
}

/** How many people decide; `solo`: one person may do every round. */
interface Rules {
  auditors: number
  votes: number
  approve_at: number
  reject_at: number
  solo: boolean
}

/** A run in a list; `outcome`: YES, NO or "ask a person". */
interface RunListed {
  run: string
  task: string
  policy: string
  samples: number
  started: string
  state: 'running' | 'done' | 'stopped' | 'failed'
  /** null while it runs, and if no sample answered */
  outcome: string | null
  /** by sample */
  verdicts: (string | null)[]
}

/** A new run; `dropped`: older runs of the person beyond the limits. */
interface RunStarted {
  run: string
  dropped: string[]
}

/** A run with its samples; `traces` to `trials` by sample. */
interface RunState {
  id: string
  bench: string
  spectrum: string
  task: string
  prompt: 'ours' | 'trained' | 'row'
  policy: string
  samples: number
  sampling: SamplingSettings
  max_turns: number
  started: string
  state: 'running' | 'done' | 'stopped' | 'failed'
  /** number of the last event */
  events: number
  traces: Trajectory[]
  /** why each has ended; null: it is running */
  reasons: ('answered' | 'turn limit' | 'truncated' | 'no call and no answer' | 'policy failed' | 'stopped' | null)[]
  /** by step */
  hints: Record<string, Hint[]>[]
  /** whether its evidence was put on trial */
  trials: boolean[]
  consensus: Consensus | null
}

/** The state of a run that ends as soon as its policy has finished its turn. */
interface RunStopped {
  state: 'running' | 'done' | 'stopped' | 'failed'
}

/** What a plan would sample. */
interface SamplePreview {
  version: string
  candidates: number
  /** what is left out, and why */
  notes: string[]
  scorers: ScorerPreview[]
  scores: SampledTraces[]
  pairs: SampledTraces[]
  gold: number
  training: number
  spectra: number
  /** number of sources, each with a trace of every spectrum; null: some lack spectra of others */
  compared: number | null
  strata: SampledStratum[]
  shared: SharedSpectra | null
}

/** The number of spectra of a stratum in a sample. */
interface SampledStratum {
  /** its task, and what else the plan tells apart */
  stratum: string[]
  spectra: number
}

/** The number of traces, or pairs, of a source and task in a sample. */
interface SampledTraces {
  source: string
  task: string
  number: number
}

/** How a policy samples. */
interface SamplingSettings {
  temperature: number
  top_p: number
  max_tokens: number
  seed?: number
  logprobs?: boolean
}

/** One dimension with its question and its anchors, 0 to 5. */
interface Scale {
  key: 'coherence' | 'consistency'
  title: string
  question: string
  anchors: Anchor[]
}

/** The values of an inspection, with their meaning. */
interface Scales {
  qualities: Record<string, string>
  issues: Record<string, string>
  spectypes: string[]
}

/** Where P(YES) comes from. */
interface ScoreModel {
  model: string
  model_meaning: string
  text: string
}

/** How many questions a scorer gets, and how many candidates they are barred from. */
interface ScorerPreview {
  initials: string
  asked: number
  barred: number
}

/** How many of their questions a scorer has answered. */
interface ScorerProgress {
  scorer: string
  done: number
  asked: number
}

/** The items of traces that were sent to review. */
interface SentForReview {
  items: SentTrace[]
}

/** The item of a trace; null: its answer is hidden from the person, or it would name its spectrum. */
interface SentTrace {
  item: number | null
  new: boolean
}

/** How well a program tells sources apart: the area under the ROC curve with its 95 % interval. */
interface Separation {
  auc: number | null
  low: number | null
  high: number | null
  /** why there is no `auc`; empty if there is one */
  reason: string
}

/** What preceded a session. */
interface SessionHistory {
  unopened: UnopenedSession[]
  earlier: EarlierSession[]
}

/** When a session was sampled, opened and closed. */
interface SessionTimes {
  drawn: string
  opened: string | null
  closed: string | null
}

/** An open session in which the person scores. */
interface SessionWork {
  session: number
  rubric: Rubric
  places: SheetPlace[]
}

/** `k` of `n`. */
interface Share {
  k: number
  n: number
}

/** How many spectra two scorers share at least and at most. */
interface SharedSpectra {
  least: number
  most: number
}

/** A trace to score, or a pair, at `place` of `of`. */
interface Sheet {
  token: string
  session: number
  kind: 'scores' | 'pair'
  place: number
  of: number
  question: TaskText
  /** the one to score; or left and right */
  traces: SheetTrace[]
  mine: SheetScores | SheetPreference | null
  /** it is for practice, and in no result */
  training: boolean
}

/** The place of a sheet in the order of its scorer, from 1. */
interface SheetPlace {
  token: string
  kind: 'scores' | 'pair'
  place: number
  answered: boolean
  /** how many answers before it can be changed while it is the first without an answer */
  changeable: number
}

/** The person's latest answer about a pair. */
interface SheetPreference {
  preference: 'left' | 'right' | 'equal' | 'both bad'
  comment: string
}

/** The person's latest scores of a trace. */
interface SheetScores {
  coherence: number | 'cannot tell'
  consistency: number | 'cannot tell'
  comment: string
  wrong_steps: string[]
}

/** A step on a sheet. `text`: of a zoom, the label of its window; `picture`: its number on the sheet. */
interface SheetStep {
  id: string
  kind: 'think' | 'zoom' | 'answer'
  text: string
  verdict: 'YES' | 'NO' | null
  window: [number, number] | null
  frame: 'observed' | 'rest' | null
  z: number | null
  medium: 'vacuum' | 'air' | null
  observation: string
  ok: boolean
  picture: number | null
}

/** A trace on a sheet; `overview` is the number of its first picture. */
interface SheetTrace {
  steps: SheetStep[]
  overview: number | null
}

/** The approved items whose spectra are most like one, of `compared`. */
interface SimilarApproved {
  items: ApprovedItem[]
  compared: number
  note: string
}

/** The items that are most like one; `indexed` of `items` were compared. */
interface SimilarItems {
  rows: SimilarRow[]
  indexed: number
  items: number
  /** false: items are still being indexed */
  complete: boolean
  /** why there are none; empty where there are */
  note: string
}

/** A row of the queue with its likeness, from 0 to 1, to an item. */
interface SimilarRow {
  id: number
  name: string
  task: string
  survey: string
  snr: number | null
  drafter: Drafter
  batch: string
  simulated: boolean
  /** its hash, or its alias while the answer is hidden */
  spectrum: string | null
  state: 'screening' | 'revision' | 'returned' | 'audit' | 'vote' | 'adjudication' | 'approved' | 'rejected' | 'cannot tell' | 'withdrawn'
  version: number
  cast: number
  wanted: number
  disagreement: boolean
  held_by: string[]
  /** present and true while name, batch and drafter are hidden from the person */
  hidden?: boolean
  assigned: string[]
  /** number of comments, those counted that the person may not see yet */
  comments: number
  unread: boolean
  /** the person scores it in a blind session, so the rest is left out */
  blind: boolean
  similarity: number
}

/** One exposure of a spectrum, in its medium, frame and flux unit; null where there is no data. */
interface SingleExposure {
  name: string
  wavelength: number[]
  flux: (number | null)[]
}

/** What the columns of the table mean. */
interface SkillMeanings {
  votes: string
  sensitivity: string
  specificity: string
}

/** How often people are right, for coordinators; no rows: `reason` says why. */
interface Skills {
  rows: PersonSkill[]
  reason: string
  meanings: SkillMeanings
}

/** A part of a text that matches a search. */
interface Snippet {
  where: 'trace' | 'comment'
  /** the step that it is about; empty: none */
  step: string
  text: string
  /** start and end of each hit in the text, in characters */
  hits: [number, number][]
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

/** The spectrum of a trace. */
interface SpectrumNamed {
  name: string
  sha256: string | null
}

/** A text that disagrees with its tool call or with the answer. */
interface StatementDisagreement {
  step: string
  text: string
}

/** The parts of each text that state something, by step, and what disagrees. */
interface Statements {
  spans: Record<string, Span[]>
  disagreements: StatementDisagreement[]
}

/** A task in words. */
interface TaskText {
  title: string
  question: string
  guide: string
}

/** A template at rest; its flux times `multiplier`, shifted to `z`, matches the spectrum. */
interface Template {
  id: string
  name: string
  class: string
  subtype: string
  medium: 'vacuum'
  frame: 'rest'
  wavelength: number[]
  flux: number[]
  z: number
  multiplier: number[]
  ranked: boolean
  source: string
  citation: string
  repository: string
  licence: string
  /** 0: not known */
  resolving_power: number
}

/** A template in the ranking; velocities in km/s. */
interface TemplateMatch {
  id: string
  name: string
  class: string
  subtype: string
  source: string
  reduced_chi2: number
  velocity: number
  velocity_error: number | null
  z: number
  overlap: number
  rank: number
}

/** The best templates, the best of each class, and what limits the ranking. */
interface TemplateMatches {
  matches: TemplateMatch[]
  best_of_class: TemplateMatch[]
  /** of the file */
  z: number | null
  note: string
}

/** When the unsent text was saved, and the text of another page that it replaced. */
interface TextSaved {
  at: string
  replaced: ReplacedText | null
}

/** A thought. */
interface ThinkStep {
  id: string
  kind: 'think'
  text: string
}

/** Who resolved a thread, and when. */
interface ThreadResolved {
  person: string | null
  at: string
}

/** Whether a thread is resolved. */
interface ThreadState {
  resolved: boolean
}

/** The thresholds for some limits, or what is missing for them. */
interface Thresholds {
  /** number of cases by verdict */
  counts: Record<string, number>
  sides: VerdictThreshold[]
  promise: string
  assumptions: string[]
  method: string
  rates: TrustFigure[]
}

/** Number of decisions with a known time, and the median of their active seconds. */
interface TimeSpent {
  decisions: number
  median_seconds: number
}

/** Tokens, newest first. */
interface TokenList {
  tokens: TokenListed[]
}

/** A token without its secret; `used_at` to the minute. */
interface TokenListed {
  id: number
  person: string
  name: string
  may_write: boolean
  made_at: string
  expires_at: string | null
  used_at: string | null
}

/** A new token with its secret, which is not shown again. */
interface TokenMade {
  id: number
  person: string
  name: string
  may_write: boolean
  made_at: string
  expires_at: string | null
  used_at: string | null
  token: string
}

/** A trace with its spectrum, as a row to import. */
interface TraceRow {
  /** name and release of the form */
  schema?: string
  task: string
  system?: string
  prompt: string
  spectrum: SpectrumNamed
  redshift: number | null
  medium: 'vacuum' | 'air'
  /** name of the picture of the whole spectrum */
  overview: string | null
  drafter: DrafterSettings
  /** the known label; null until the item is decided */
  label: 'YES' | 'NO' | null
  label_source?: string
  simulated: boolean
  steps: (ThinkStep | ZoomStep | AnswerStep)[]
  faults: string[]
  /** why the data allow no answer */
  cannot_tell?: string
  medium_assumed?: boolean
  /** who stated the medium */
  medium_set_by?: string
  /** people who wrote the text before it was imported */
  authors?: string[]
  spectrum_data: Record<string, any>
}

/** The imported prompts by task. */
interface TrainedPrompts {
  trained: Record<string, string>
  /** why their file cannot be read; empty if it can */
  problem: string
}

/** A trace. Keys without a value are left out, and so is what is hidden until the person has given a verdict. */
interface Trajectory {
  /** name and release of the form */
  schema?: string
  task: string
  system?: string
  prompt: string
  spectrum: SpectrumNamed
  redshift: number | null
  medium: 'vacuum' | 'air'
  /** name of the picture of the whole spectrum */
  overview: string | null
  drafter: DrafterSettings
  /** the known label; null until the item is decided */
  label: 'YES' | 'NO' | null
  label_source?: string
  simulated: boolean
  steps: (ThinkStep | ZoomStep | AnswerStep)[]
  faults: string[]
  /** why the data allow no answer */
  cannot_tell?: string
  medium_assumed?: boolean
  /** who stated the medium */
  medium_set_by?: string
  /** people who wrote the text before it was imported */
  authors?: string[]
}

/** Evidence on trial. */
interface Trial {
  of_this_version: true
  /** names it in the addresses of its pictures */
  key: string
  drafter: Drafter
  /** of the sampling; null where the policy always writes the same */
  temperature: number | null
  seed: number
  passed: boolean | null
  necessity: Share
  sufficiency: Share
  placebo: Share
  still_claims: Share
  outcomes: TrialOutcome[]
  skipped: TrialSkipped[]
}

/** One edit of the spectrum behind a tool call; `agent.trial.report.EditOutcome` describes it. */
interface TrialOutcome {
  /** place in the stored trial, which names the picture */
  number: number
  step: string
  edit: 'remove' | 'flip' | 'shift' | 'inject' | 'placebo'
  subject: string
  window: [number, number]
  frame: 'observed' | 'rest'
  medium: 'vacuum' | 'air'
  energy: number
  verdict_before: 'YES' | 'NO' | null
  verdict_after: 'YES' | 'NO' | null
  score_before: number | null
  score_after: number | null
  claimed_before: boolean
  claimed_after: boolean
  followed: boolean
}

/** A tool call, or one edit of it, that could not be tested. */
interface TrialSkipped {
  step: string
  edit: 'remove' | 'flip' | 'shift' | 'inject' | 'placebo' | null
  reason: string
}

/** A number with its meaning; no value: `note` says why. */
interface TrustFigure {
  name: string
  meaning: string
  value: string | null
  note: string
}

/** The calibration, the rates and the votes of one policy for one class. */
interface TrustFigures {
  tasks: Record<string, string>
  task: string
  policies: PolicyItems[]
  policy: string
  may_download: boolean
  scored: ScoreModel
  reliability: ReliabilityDiagram
  calibration: CalibrationErrors | null
  rates: TrustFigure[]
  /** null: not for this person */
  skill: Skills | null
  certificates: CertificateRow[]
}

/** A session of the same sources that was created and not opened. */
interface UnopenedSession {
  session: number
  seed: number
  created: string
  /** when it was closed without opening; null: it was left */
  discarded: string | null
}

/** The newest unread comments, the number of all, and the newest comment on any item. */
interface UnreadComments {
  items: UnreadItem[]
  total: number
  newest: number
}

/** An unread comment with its item; while it is hidden, only that there is one. */
interface UnreadItem {
  item: number
  name: string
  comment: number
  person: string | null
  text: string
  at: string | null
  mentioned: boolean
  hidden: boolean
}

/** The person's own verdict, given before they saw those of others. */
interface VerdictCommitted {
  verdict: 'YES' | 'NO' | 'cannot tell'
  at: string
}

/** The threshold of one verdict in P(YES); null: not certified, and the text says why. */
interface VerdictThreshold {
  verdict: 'YES' | 'NO'
  threshold: number | null
  text: string
}

/** A new version: its id and number. */
interface VersionSaved {
  version: number
  number: number
  at: string
}

/** A version in the history of an item. */
interface VersionText {
  number: number
  author: string | null
  before_import: string[]
  reason: string
  at: string
  steps: (ThinkStep | ZoomStep | AnswerStep)[]
}

/** A filter, or a list of `items` items, with a name; others can open a shared one. */
interface View {
  id: number
  name: string
  person: string
  shared: boolean
  /** what was saved with it; empty for a list */
  filter: Record<string, any>
  items: number | null
}

/** A new webhook with the secret that signs its messages, which is not shown again. */
interface WebhookAdded {
  id: number
  url: string
  events: ('approved' | 'returned' | 'exported')[]
  person: string
  made_at: string
  /** number of events that are still to be delivered */
  waiting: number
  /** number of events that were given up or dropped */
  lost: number
  stopped_at: string | null
  silent_since: string | null
  secret: string
}

/** Deliveries, newest event first. */
interface WebhookDeliveries {
  deliveries: WebhookDelivery[]
}

/** An event for a webhook, and what the last attempt to deliver it got. */
interface WebhookDelivery {
  event: 'approved' | 'returned' | 'exported'
  at: string
  item: number | null
  export: number | null
  attempts: number
  delivered_at: string | null
  /** when the next attempt is due; null: delivered, or given up */
  next_at: string | null
  answer: string
}

/** Webhooks, oldest first. */
interface WebhookList {
  webhooks: WebhookListed[]
}

/** A webhook; `stopped_at`: nothing was delivered `silent_since`, so nothing is sent. */
interface WebhookListed {
  id: number
  url: string
  events: ('approved' | 'returned' | 'exported')[]
  person: string
  made_at: string
  /** number of events that are still to be delivered */
  waiting: number
  /** number of events that were given up or dropped */
  lost: number
  stopped_at: string | null
  silent_since: string | null
}

/** What was answered to a test message. */
interface WebhookTested {
  delivered: boolean
  answer: string
}

/** The words of a button, and one or two sentences for its tooltip. */
interface Wording {
  short: string
  text: string
}

/** A tool call and what the tool answered. */
interface ZoomDrawn {
  /** as the agent wrote them, which may be no valid call */
  arguments: Record<string, any>
  frame: 'observed' | 'rest'
  z: number
  medium: 'vacuum' | 'air'
  observation: string
  ok: boolean
  /** SHA-256 of the pixels, which names the picture; null: none was drawn */
  picture: string | null
}

/** A tool call that was carried out and not stored; the page gives the step its id. */
interface ZoomPreview {
  step: ZoomDrawn
  /** the picture in base64; null: none was drawn */
  png: string | null
  hints: Hint[]
}

/** A tool call as a step of a trace. */
interface ZoomStep {
  /** as the agent wrote them, which may be no valid call */
  arguments: Record<string, any>
  frame: 'observed' | 'rest'
  z: number
  medium: 'vacuum' | 'air'
  observation: string
  ok: boolean
  /** SHA-256 of the pixels, which names the picture; null: none was drawn */
  picture: string | null
  id: string
  kind: 'zoom'
}
