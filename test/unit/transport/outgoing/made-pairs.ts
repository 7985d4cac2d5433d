// Two certificates with their keys, made when this module is loaded: tables of cases are written of them.
import { makeSelfSigned } from '../../../../transport/tls/self-signed.ts';

const times = { notBefore: new Date(Date.now() - 1000), notAfter: new Date(Date.now() + 86_400_000) };
export const PAIR = await makeSelfSigned({ commonName: 'x', names: ['x'], ...times });
export const OTHER = await makeSelfSigned({ commonName: 'y', names: ['y'], ...times });
