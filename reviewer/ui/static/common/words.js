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
  ...[t('think'), t('zoom'), t('answer'), t('step')],
  ...[t('supported'), t('not supported'), t('hallucinated feature'), t('wrong frame'), t('needless zoom')],
  // spectra
  ...[t('rest'), t('observed'), t('air'), t('vacuum'), t('emission'), t('absorption'), t('heliocentric')],
  ...[t('barycentric'), t('topocentric'), t('unit unknown'), t('relative'), t('count'), t('counts'), t('adu')],
  ...[t('normalized'), t('normalised')],
  // the outcome of a run
  t('ask a person'),
]
