// Rules of what containers are given on nodes that run Windows: credentials, and the user they run as.
import type { Report } from '../report.ts';
import type { Rule, RuleTable } from '../rule.ts';

const CREDENTIAL_SPEC_BYTES_MAX = 64 * 1024;
const DOMAIN_BYTES_MAX = 255;
const USER_BYTES_MAX = 104;

const credentialSpec: Rule<string> = (spec, at) => {
  if (spec === '') at.invalid('', spec, 'gmsaCredentialSpec cannot be an empty string');
};

/** The name of a domain as NetBIOS has it, or as DNS does. */
const NET_BIOS_NAME = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
const DNS_LABEL = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?';
const DNS_NAME = new RegExp(`^${DNS_LABEL}(?:\\.${DNS_LABEL})*$`);

/** A user, or a domain, a backslash and a user. */
const userName: Rule<string> = (text, at) => {
  const [first = '', second, ...more] = text.split('\\');
  if (text === '') at.invalid('', text, 'runAsUserName cannot be an empty string');
  else if (/\p{Cc}/u.test(text)) at.invalid('', text, 'must not contain control characters');
  else if (more.length > 0) at.invalid('', text, 'must have at most one backslash');
  else {
    if (second !== undefined) checkDomain(text, first, at);
    checkUser(text, second ?? first, at);
  }
};

function checkDomain(text: string, domain: string, at: Report): void {
  if (Buffer.byteLength(domain) > DOMAIN_BYTES_MAX) {
    at.invalid('', text, `the domain must have at most ${DOMAIN_BYTES_MAX} bytes`);
  }
  if (!NET_BIOS_NAME.test(domain) && !DNS_NAME.test(domain)) {
    at.invalid('', text, 'the domain must be a NetBIOS or a DNS name');
  }
}

function checkUser(text: string, user: string, at: Report): void {
  if (user === '') at.invalid('', text, 'must name a user');
  else if (Buffer.byteLength(user) > USER_BYTES_MAX) {
    at.invalid('', text, `the user must have at most ${USER_BYTES_MAX} bytes`);
  }
  if (/^[. ]+$/.test(user)) at.invalid('', text, 'the user must not be only dots and blanks');
  if (/["/\\:;|=,+*?<>@[\]]/.test(user)) {
    at.invalid('', text, 'the user must have none of the characters "/\\:;|=,+*?<>@[]');
  }
}

export const windowsTypes: RuleTable = {
  'core/v1.WindowsSecurityContextOptions': {
    fields: {
      gmsaCredentialSpecName: { format: 'dns1123Subdomain' },
      gmsaCredentialSpec: { bytesMax: CREDENTIAL_SPEC_BYTES_MAX, reason: 'invalid', rules: [credentialSpec] },
      runAsUserName: { rules: [userName] },
    },
  },
};
