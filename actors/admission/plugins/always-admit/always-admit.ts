// AlwaysAdmit: a name without an effect, which configurations of old carry.
import type { AdmissionPluginKind } from '../plugin.ts';

export const alwaysAdmit: AdmissionPluginKind = { name: 'AlwaysAdmit', wants: [], create: () => ({}) };
