// Renews docs/OPTIONS.md from the option tables. Run by `npm run docs`, from the project's folder.
import { writeFileSync } from 'node:fs';
import { optionsDocument } from '../config/options-document.ts';

writeFileSync('docs/OPTIONS.md', optionsDocument());
