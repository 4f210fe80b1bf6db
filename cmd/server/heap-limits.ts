import { setFlagsFromString } from 'node:v8'

// Requests leave little behind, so a young generation that grows to its default of 64 MB a half only costs memory.
setFlagsFromString('--max-semi-space-size=16')
setFlagsFromString('--semi-space-growth-factor=2')
