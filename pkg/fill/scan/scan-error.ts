import { ReasonError } from '../../base/errors/errors.ts'

/** A scan without a result: what was found before stays. */
export class ScanError extends ReasonError<'ScanFailed' | 'ScannerAbsent' | 'NothingRecognised'> {}
