// Column names in exports of other services: names of the email column, and the field that a name means.

const MARKS = /\p{M}/gu;
const NOT_IN_WORDS = /[^\p{L}\p{N}]+/gu;

/** Returns a name without case, accents, blanks and punctuation, so that `E-mail 1 - Value` becomes `email1value`. */
export function plainName(name: string): string {
  return name.normalize("NFKD").replace(MARKS, "").toLowerCase().replace(NOT_IN_WORDS, "");
}

const listOf = (names: string): string[] => names.trim().split(/\s+/).map(plainName);

/** Names of the email column in exports of services and the major languages, best first. */
const EMAIL_NAMES = listOf(`
  email emailaddress primaryemail primaryemailaddress emailprimary email1 email1value email1address emailvalue
  subscriberemail contactemail customeremail useremail memberemail recipientemail accountemail billingemail workemail
  businessemail personalemail emailid emails useremailaddress customeremailaddress contactemailaddress emailadress
  emailadresse mailadresse emailadres mailadres emailadressen adresseemail adresseelectronique adressemail adressedemessagerie
  courriel adressecourriel correo correoelectronico direcciondecorreo direcciondecorreoelectronico direccionemail indirizzoemail
  indirizzodiposta indirizzodipostaelettronica postaelettronica enderecodeemail enderecoemail correioeletronico adresemail adrese-mail
  epost epostadress epostadresse epostadres mejladress sahkoposti sahkopostiosoite eposta epostaadresi emailcim emailova adresa-email
  emailadresa elektronickaposta электроннаяпочта адресэлектроннойпочты почта емейл имейл 電子メール メールアドレス メール eメール 邮箱 邮件
  电子邮件 电子邮箱 邮箱地址 電子郵件 電郵 이메일 이메일주소 메일 البريدالالكتروني mail subscriber`);
const EMAIL_RANK: ReadonlyMap<string, number> = new Map(EMAIL_NAMES.map((name, rank) => [name, rank]));

/** Names that mean an address only if the values are addresses. */
const ADDRESS_NAMES: ReadonlySet<string> = new Set(
  listOf(
    "address adresse adress direccion indirizzo endereco recipient contact username login user subscriber mail почта",
  ),
);

/** Returns the rank of a name as the email column, with 0 as the best; null if the name does not match. */
export function emailRank(name: string): number | null {
  return EMAIL_RANK.get(plainName(name)) ?? null;
}

/** Returns whether the name means an email address if the values of its column are addresses. */
export function mayNameAddresses(name: string): boolean {
  return ADDRESS_NAMES.has(plainName(name));
}

const SYNONYMS: Readonly<Record<string, string>> = {
  firstName:
    "firstname fname givenname forename first vorname prenom nombre primernombre nome primeironome voornaam fornamn fornavn etunimi imie имя 名 이름",
  lastName:
    "lastname lname surname familyname secondname last nachname familienname nom nomdefamille apellido apellidos cognome sobrenome achternaam efternamn etternavn sukunimi nazwisko фамилия 姓 성",
  name: "name fullname displayname contactname customername vollername nomcomplet nombrecompleto nomecompleto 氏名 이름전체",
  phone:
    "phone phonenumber telephone telephonenumber mobile mobilephone mobilenumber cell cellphone sms telefon telefonnummer handy tel telefono movil cellulare telefone celular telefoon telefone numerodetelephone телефон 電話番号 전화번호",
  company:
    "company companyname organization organisation organizationname business firma unternehmen societe entreprise empresa azienda bedrijf foretag yritys компания 会社名 회사",
  jobTitle: "jobtitle position role beruf fonction cargo puesto",
  city: "city town stadt ort ville ciudad localidad citta cidade stad miasto город 市区町村 도시",
  country: "country countryname countryregion land pays pais paese kraj страна 国 국가",
  state:
    "state region province stateregion stateprovince stateprovinceregion provincecode bundesland provincia estado",
  zip: "zip zipcode postalcode postcode plz postleitzahl codepostal codigopostal cap cep postnummer kodpocztowy индекс 郵便番号 우편번호",
  address: "streetaddress addressline1 address1 street strasse rue calle via adressline1",
  birthday:
    "birthday birthdate dateofbirth dob geburtstag geburtsdatum datedenaissance anniversaire fechadenacimiento cumpleanos compleanno datadinascita nascimento",
  tags: "tags tag labels label groups schlagworte etiquettes etiquetas",
  language: "language lang locale sprache langue idioma lingua preferredlanguage",
  gender: "gender sex geschlecht sexe sexo genere",
  timezone: "timezone tz zeitzone fuseauhoraire zonahoraria",
  website: "website url web homepage site siteweb webseite",
  notes: "notes comments comment notizen remarques notas",
};

const KEYS_BY_NAME: ReadonlyMap<string, string> = new Map(
  Object.entries(SYNONYMS).flatMap(([key, names]) => listOf(names).map((name) => [name, key] as const)),
);

/** A key that templates can use without quotes or brackets. */
export const TEMPLATE_KEY = /^[A-Za-z_][A-Za-z0-9_]*$/;
const KEY_MAX_CHARS = 60;
const PREFIXES = /^(?:custom|defaultaddress|default|home|contact|customer|billing)(?=.)/;
/** Names that mean a field only if no other column of the file matches more clearly. */
const WEAK_SYNONYMS: ReadonlyMap<string, string> = new Map([
  ["title", "jobTitle"],
  ["note", "notes"],
]);

/** Returns the key shared by the services' names for one thing; null for an unknown name. */
export function sharedKey(name: string): string | null {
  return KEYS_BY_NAME.get(plainName(name)) ?? null;
}

/** Returns the shared key of a less clear name, such as `Default Address City`. */
export function weakKey(name: string): string | null {
  const plain = plainName(name);
  return WEAK_SYNONYMS.get(plain) ?? KEYS_BY_NAME.get(plain.replace(PREFIXES, "")) ?? null;
}

const CAMEL_JOINT = /([\p{Ll}\p{N}])(\p{Lu})/gu;
const E_MAIL = /\be-mail/gi;
const ELISION = /(?<!\p{L})[dl]['’]/giu;

/** Returns a name in camelCase, or an empty string if it has no ASCII letter or digit. */
export function camelCase(name: string): string {
  const words = name
    .normalize("NFKD")
    .replace(MARKS, "")
    .replace(/ß/g, "ss")
    .replace(E_MAIL, "email")
    .replace(ELISION, "")
    .replace(CAMEL_JOINT, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
  const key = words
    .map((word, at) => (at === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
    .join("");
  const short = key.slice(0, KEY_MAX_CHARS);
  return /^[0-9]/.test(short) ? `field${short}` : short;
}
