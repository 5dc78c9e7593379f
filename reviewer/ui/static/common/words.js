// The words that the server stores and the page shows: `word(stored)` in language.js translates them. Nothing imports
// this module; `make messages` reads it.

import { t } from './language.js'

export const WORDS = [
  // states and rounds
  ...[t('screening'), t('revision'), t('returned'), t('audit'), t('vote'), t('adjudication')],
  ...[t('approved'), t('rejected'), t('cannot tell'), t('withdrawn')],
  // verbs
  ...[t('keep'), t('reject'), t('submit'), t('pass'), t('return'), t('approve'), t('abstain'), t('undo')],
  ...[t('withdraw'), t('restore')],
  // roles
  ...[t('reviewer'), t('auditor'), t('coordinator')],
  // steps, marks
  ...[t('think'), t('zoom'), t('answer'), t('step'), t('window'), t('left step'), t('right step')],
  ...[t('supported'), t('not supported'), t('hallucinated feature'), t('wrong frame'), t('needless zoom')],
  // spectra
  ...[t('rest'), t('observed'), t('air'), t('vacuum'), t('emission'), t('absorption'), t('heliocentric')],
  ...[t('barycentric'), t('topocentric'), t('unit unknown'), t('relative'), t('count'), t('counts'), t('adu')],
  ...[t('normalized'), t('normalised'), t('geocentric')],
  // which lines are drawn
  ...[t('few'), t('all')],
  // the outcome of a run
  t('ask a person'),
  // blind sessions: sides, states, pictures, phrases that reveal an author
  ...[t('left'), t('right'), t('open'), t('closed'), t('when every question is answered')],
  ...[t('drawn anew'), t('title removed'), t('unchanged')],
  ...[t('model'), t('company'), t('machine'), t('baseline'), t('label'), t('prompt'), t('file'), t('designation')],
  t('picture'),
  // states of a run, kinds of results, curves and reasons
  ...[t('running'), t('stopped'), t('simulated'), t('trace'), t('template'), t('coherence'), t('draft')],
  ...[t('pairs'), t('truncated'), t('failed')],
  // what differs between two inspections
  ...[t('quality'), t('class')],
]
