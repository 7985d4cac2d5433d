// The file that tells a Kubernetes client where the server is and who it is: kind Config, apiVersion v1. Written by
// hand, so that starting a server loads no YAML library; every value is a JSON string, which is YAML.

/** What goes into the file. Without a certificate the client uses its system's authorities; without a token it is anonymous. */
export interface KubeconfigInput {
  /** The server's URL. */
  readonly server: string;
  /** The authority that signed the server's certificate. */
  readonly caPem?: string;
  /** The name that the server's certificate is for, where that is another than the URL's. */
  readonly serverName?: string | undefined;
  /** Bearer token of the user. */
  readonly token?: string;
  readonly user: string;
  readonly cluster: string;
  readonly context: string;
}

/** The file's text. It may hold a token: write it readable by its owner alone. */
export function kubeconfigText(input: KubeconfigInput): string {
  const { server, caPem, serverName, token, user, cluster, context } = input;
  const authority =
    caPem === undefined ? [] : [`    certificate-authority-data: ${Buffer.from(caPem).toString('base64')}`];
  const name = serverName === undefined ? [] : [`    tls-server-name: ${JSON.stringify(serverName)}`];
  const credentials = token === undefined ? ['  user: {}'] : ['  user:', `    token: ${JSON.stringify(token)}`];
  return [
    'apiVersion: v1',
    'kind: Config',
    'clusters:',
    `- name: ${JSON.stringify(cluster)}`,
    '  cluster:',
    `    server: ${JSON.stringify(server)}`,
    ...authority,
    ...name,
    'users:',
    `- name: ${JSON.stringify(user)}`,
    ...credentials,
    'contexts:',
    `- name: ${JSON.stringify(context)}`,
    '  context:',
    `    cluster: ${JSON.stringify(cluster)}`,
    `    user: ${JSON.stringify(user)}`,
    `current-context: ${JSON.stringify(context)}`,
    'preferences: {}',
    '',
  ].join('\n');
}
