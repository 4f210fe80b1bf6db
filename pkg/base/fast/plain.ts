/** Whether this process does without tricks: answers must be the same. Parts ask when they are made. */
export const isPlain = (): boolean => process.env['DEPOT_PLAIN'] === '1'
