// How a server is started that serves every version and takes the fixtures' objects as they are.

/** Admission that looks for what a pod names would refuse pods before their fields are looked at; nobody is behind the webhooks. */
export const PERMISSIVE_ARGS: readonly string[] = [
  '--runtime-config',
  'api/all=true',
  '--disable-admission-plugins',
  'ServiceAccount,Priority,RuntimeClass,LimitRanger,MutatingAdmissionWebhook,ValidatingAdmissionWebhook',
  '--service-cluster-ip-range',
  '10.0.0.0/24,fd00::/108',
];
