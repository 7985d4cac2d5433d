// A kubeconfig file: where the server is, whom to trust, and with which token to speak. Written by hand, since all of its
// values are ours.

export interface KubeconfigValues {
  /** `https://127.0.0.1:6443`. */
  readonly server: string;
  readonly caPem: string;
  readonly token: string;
  readonly user: string;
  readonly cluster: string;
  readonly context: string;
}

/** The file's text; any Kubernetes client reads it. JSON strings are YAML strings, so odd characters stay inside. */
export function kubeconfigText({ server, caPem, token, user, cluster, context }: KubeconfigValues): string {
  const text = JSON.stringify;
  return `apiVersion: v1
kind: Config
clusters:
- name: ${text(cluster)}
  cluster:
    server: ${text(server)}
    certificate-authority-data: ${Buffer.from(caPem).toString('base64')}
users:
- name: ${text(user)}
  user:
    token: ${text(token)}
contexts:
- name: ${text(context)}
  context:
    cluster: ${text(cluster)}
    user: ${text(user)}
current-context: ${text(context)}
`;
}
