// Patterns for the wording of rejections in eight languages. Each pattern runs in linear time because repetitions are bounded and never
// nested.

function anyOf(...patterns: string[]): RegExp {
  return new RegExp(patterns.join("|"), "iu");
}

/** Matches within a few words. */
const NEAR = "[^.;:!?。]{0,60}?";
const MAILBOX =
  "(?:users?|recipients?|mail ?box(?:es)?|accounts?|addressee?s?|destinations?|e-?mail|inbox|customer|subscriber|member|person|login|username|local ?part|alias)";

/** Rejections of the sender's own address, which may also mention unknown users. */
export const SENDER = anyOf(
  "sender(?:'s)? (?:verif\\w{0,20}|address|domain|e-?mail|id|mailbox|rejected|denied|refused|blocked|unknown|invalid|not|is|was|has|must|callout|host)",
  "(?:invalid|bad|unroutable|unrouteable|unknown|forged|unverified|illegal|null|empty|unauthori[sz]ed|malformed) (?:envelope )?(?:sender|return.path|reverse.path|mail from|from address)",
  "(?:could not|cannot|can't|failed to|unable to|couldn't) (?:be )?(?:verif\\w{0,20}|validate|resolve|determine) (?:the )?(?:sender|envelope|return|mail from|from|purported)",
  "sender[^.;]{0,30}(?:rejected|refused|denied|not allowed|blocked|does not exist|not found)",
  "(?:envelope.?from|mail from|return.path|header from|from header|from:) ?(?:address|domain|command|host)?[^.;]{0,40}(?:rejected|denied|refused|not (?:allowed|permitted|accepted|valid|exist)|blocked|invalid|does not|could not|must)",
  "domain of sender",
  "callout verification failed",
  "verification failed for",
  "can't determine purported",
  "not allowed to send (?:mail )?(?:from|as)",
  "send as (?:denied|.{0,30}permission)",
  "absender\\w{0,20}[^.;]{0,40}(?:abgelehnt|ungültig|unbekannt|nicht)",
  "expéditeur[^.;]{0,40}(?:refus|rejet|invalide|inconnu)",
  "remitente[^.;]{0,40}(?:rechazad|inválid|no )",
  "mittente[^.;]{0,40}(?:rifiutat|respint|non )",
  "remetente[^.;]{0,40}(?:rejeitad|inválid|não )",
  "送信者|差出人",
  "отправител[ья][^.;]{0,40}(?:отклон|запрещ|не |неизвест|заблокир)",
);

export const REVERSE_DNS = anyOf(
  "reverse.?(?:dns|lookup|host|map|record|name|ip)",
  "\\brdns\\b|\\bptr\\b|\\bfcrdns\\b",
  "(?:cannot|can't|could not|unable to) (?:find|resolve|lookup) your (?:reverse )?(?:hostname|host|ip|domain)",
  "no (?:host ?name|dns (?:name|record)) (?:found )?for your",
  "\\b(?:helo|ehlo)\\b[^.;]{0,60}(?:reject|invalid|denied|not|must|does|mismatch|bad|bogus|refused)",
  "(?:invalid|bad|bogus|mismatched|forged) (?:helo|ehlo)",
  "ip (?:name|address) (?:lookup failed|has no name)",
  "client host rejected: cannot find",
);

export const AUTHENTICATION = anyOf(
  "\\b(?:spf|dkim|dmarc|sender policy framework|domainkeys|sender.?id)\\b",
  "unauthenticated|not authenticated|authentication[^.;]{0,30}(?:required|failed|checks?|did not|not pass|result)",
  "(?:must|need to) (?:be )?authenticat",
);

export const REPUTATION = anyOf(
  "(?:block|black|deny|reject|ban) ?-?list(?:ed|ing)?\\b",
  "\\b(?:dns|r)?bls?\\b(?: |=)?(?:list|:|blocked)|\\b(?:rbl|dnsbl|spamhaus|spamcop|sorbs|uribl|surbl|abuseat|barracudacentral|senderbase|senderscore|invaluement|uceprotect|cloudmark|spamrats|mailspike|manitu|sender\\.office|backscatterer)",
  "\\bbanned\\b|\\bsrbounce|on our (?:block|black) list|(?:is|are|was|been|domain|address|host|ip|currently) listed (?:at|by|in|on)\\b",
  "\\breputation\\b",
  "(?:\\bip\\b|ip address|host|client|server|sending system|network|subnet|connection|domain|messages?|mails?|e-?mails?|access|service|isp|provider|sender)s?[^.;:]{0,60}\\bblocked\\b",
  "\\bblocked (?:using|by|due|because|for|from|at|-|see|\\(|address|ip)",
  "(?:use|using) the (?:smtp|mail) ?server of your (?:isp|provider)|dynamic(?:ally)? (?:ip|assigned)|residential ip|dial-?up",
  "user complaints|weren't sent\\. please contact your internet",
  "заблокирован[^.;]{0,30}(?:ip|хост|сервер)|(?:ip|хост|сервер)[^.;]{0,40}заблокирован",
);

export const RATE = anyOf(
  "too many (?:recipients|messages|connections?|mails?|e-?mails?|sessions?|concurrent|simultaneous|errors|invalid|hops? per|bad|unknown)",
  "(?:rate|sending|send|daily|hourly|hour|day|message|messages|mail|outgoing|connection|concurrency|traffic|volume|sms)[ -](?:sending |user |message |mail |send |rate )?(?:limits?|limitation|quota)\\b[^.;]{0,30}(?:exceed|reach|hit|over|violat)?",
  "(?:exceed|reached|over|hit)[^.;]{0,40}(?:rate|hourly|daily|sending|connection|per (?:hour|day|minute|second)|(?:this|an|one) (?:hour|day|minute)|messages? (?:limit|allowed)|recipients? (?:limit|this))",
  "too (?:fast|frequent|often|much mail)|throttl|gr[ae]y ?-?list|unusual rate|slow down|unexpected volume|sent too many|mail flood",
  "(?:recipients|messages|mails|connections) (?:this|per|in (?:an|the last)) (?:hour|day|minute)",
);

/** Wording of Gmail and others for a mailbox that receives too much at a time. */
export const BUSY_MAILBOX = anyOf("receiving (?:mail|e-?mail|messages) (?:too quickly|at a rate)");

export const RELAYING = anyOf(
  "relay(?:ing)?(?: access)?(?: to| for| of| mail| is| through)?[^.;:]{0,40}(?:denied|not (?:permitted|allowed|supported|authori[sz]ed)|prohibited|refused|forbidden|rejected|disabled)",
  "(?:unable|not (?:permitted|allowed|authori[sz]ed)|cannot|won't|do(?:es)? not|refuse|no|insecure mail|open) (?:to )?relay(?:ing)?\\b(?! recipient table)",
  "rcpthosts|not (?:a|our) local (?:domain|host)|not one of my domains|we do not (?:accept|handle) mail for|not (?:a )?(?:gateway|host) for|not a (?:accepted|hosted) domain",
);

export const CONTENT = anyOf(
  "\\b(?:spam|spammy|spamming|spamassassin|junk|uce|ube|bulk|phish(?:ing)?|unsolicited|virus(?:es)?|malware|infected|worm|trojan|malicious|suspicious)\\b",
  "(?:message|mail|content|body|header|subject|attachment|url|link|file)[^.;:]{0,40}(?:content[^.;:]{0,20}(?:rejected|not (?:allowed|accepted|acceptable))|filter(?:ed)?\\b|forbidden|prohibited|banned|scored|considered)",
  "content (?:rejected|reject|filter|violat|denied)|rejected[^.;]{0,30}content|(?:bad|header) (?:header|error)|forbidden attachment",
  "indésirable|спам|вирус|迷惑メール|ウイルス|correo no deseado|posta indesiderata",
);

export const TOO_LARGE = anyOf(
  "(?:message|mail|e-?mail|attachment|header|body|content|data)s?(?: file)?(?: size| length)?[^.;:]{0,30}(?:too (?:big|large|long)|exceed(?:s|ed|ing)?\\b(?![^.;]{0,30}(?:quota|mailbox|storage)))",
  "(?:exceed(?:s|ed|ing)?|over|maximum|larger than|limit)[^.;]{0,40}(?:message|mail|e-?mail|file) ?size|size limit exceeded|message size (?:limit|exceed)|too much (?:mail )?data|length exceeds",
  "nachricht[^.;]{0,20}zu groß|message trop (?:gros|volumineux)|mensaje[^.;]{0,30}(?:tamaño|grande)|messaggio[^.;]{0,30}(?:grande|dimension)|mensagem[^.;]{0,30}(?:grande|tamanho)|サイズ(?:が|の)?(?:制限|超|大き)|размер (?:письма|сообщения)",
);

export const MAILBOX_FULL = anyOf(
  `${MAILBOX}(?:'s)?${NEAR}(?:is |are |was |its |his |temporarily ){0,4}(?:\\bfull\\b|over[ -]?(?:the |its |his |allocated )?(?:quota|limit)|out of (?:space|storage)|exceed(?:s|ed|ing)?\\b[^.;]{0,40}(?:quota|size|limit|storage|allow|space|capacity))`,
  "(?:over|exceed(?:s|ed|ing)?|out of|above|not enough|insufficient|low|no)(?: the| its| his| user| available| free| storage| system| disk| mailbox| allocated| maximum| any){0,4} ?(?:quota|storage|disk ?space|disk|space)\\b",
  "(?:disk |mailbox |storage |mail ?box |user |over|filesystem )?quota[^.;:]{0,20}(?:exceed|full|violat|over|reach)|quota exceeded|overquota|no space left|(?:mailbox|storage) size limit|\\bmailfull\\b|mailbox full|inbox (?:is )?full|mbox full|mailfolder is full",
  "(?:postfach|mailbox|speicher|kontingent|quota)\\w{0,20}[^.;]{0,40}(?:\\bvoll\\b|überschritten|überfüllt|erschöpft)",
  "(?:bo[iî]te|messagerie)[^.;]{0,40}(?:pleine|saturée)|quota[^.;]{0,20}(?:dépassé|atteint)|espace (?:disque )?insuffisant",
  "(?:buz[oó]n|casilla|cuenta)[^.;]{0,30}(?:llen[oa]|excedid)|cuota[^.;]{0,20}(?:excedida|superada)|sin espacio",
  "casella[^.;]{0,30}pien[ao]|spazio (?:disponibile )?(?:esaurito|insufficiente)|quota[^.;]{0,15}superata",
  "(?:caixa|conta)[^.;]{0,30}(?:cheia|lotada|excedeu)|(?:quota|cota)[^.;]{0,20}(?:excedida|ultrapassada)|sem espaço",
  "(?:メール)?ボックス[^。]{0,20}(?:一杯|いっぱい|満杯|超え|超過|オーバー)|容量[^。]{0,20}(?:超|オーバー|不足|一杯|いっぱい)",
  "ящик[^.;]{0,40}(?:переполнен|заполнен)|превышен[аоы]?[^.;]{0,30}(?:квот|объ[её]м|размер ящика)|квота[^.;]{0,20}(?:превышен|исчерпан)",
);

export const MAILBOX_CLOSED = anyOf(
  `(?:users?|recipients?|mail ?box|account|address|e-?mail|domain|customer|subscriber)(?:'s|\\(s\\))?(?: (?:account|mailbox|address|status))?(?: that you tried to reach)?(?: @)?[ :]{1,3}(?:is |has been |was |are |currently |temporarily |permanently |now |administratively ){0,4}(?:disabled|inactive|suspended|locked|deactivated|frozen|closed|on hold|expired|not active|blocked|discontinued|not activated|terminated|unavailable due)`,
  "(?:disabled|inactive|suspended|locked|deactivated|closed|expired|dormant) (?:recipient|account|mailbox|user|mail account|address|e-?mail)",
  "mailbox (?:currently )?(?:disabled|locked|suspended|inactive)|account (?:disabled|locked|suspended|inactive|closed)|not been used for|account that is disabled",
  "(?:konto|postfach|empfänger)[^.;]{0,30}(?:gesperrt|deaktiviert|inaktiv)|(?:compte|bo[iî]te)[^.;]{0,30}(?:désactivé|suspendu|bloqué|inactif)|(?:cuenta|buz[oó]n)[^.;]{0,30}(?:deshabilitad|suspendid|bloquead|inactiv)",
  "(?:account|casella|utente)[^.;]{0,30}(?:disabilitat|sospes|bloccat|disattivat)|(?:conta|caixa)[^.;]{0,30}(?:desativad|suspens|bloquead|inativ)|(?:アカウント|メールボックス)[^。]{0,20}(?:停止|無効|ロック|凍結)|(?:ящик|уч[её]тная запись|аккаунт|пользователь)[^.;]{0,30}(?:заблокирован|отключ[её]н|приостановлен)",
);

export const RECIPIENT_REFUSES = anyOf(
  "recipient preferences|refused by (?:the )?recipient|(?:recipient|user|account|customer|mailbox)[^.;]{0,30}(?:does not want|not accepting|refuses|rejects|rejected your|only accepts|has blocked|blocked you|has chosen)",
  "not (?:authori[sz]ed|allowed|permitted|accepted) to (?:send|post|mail|deliver|submit)[^.;]{0,40}(?:to|this|the|group|list|recipient|mailbox)|permission to (?:post|send)|only (?:accepts|allows) (?:mail|messages) from|members? only|not a (?:list )?member|sender is not on[^.;]{0,30}list|delivery not authori[sz]ed|restricted (?:recipient|distribution|by)|rejected by (?:the )?(?:domain filter|user|recipient)|requires? (?:confirmation|moderation)",
  "not accepting (?:mail|messages|e-?mail) (?:with|from)|message filtered|filtered by|mail rejected by (?:user|filter)",
  "groups\\.google\\.com\\/support",
);

/** Postfix names the lookup table, which is more precise than the code. */
export const UNKNOWN_IN_TABLE = anyOf("(?:user )?unknown in [^.;:]{0,40}table");

export const UNKNOWN_USER = anyOf(
  `${MAILBOX}(?: names?| addresse?s?| accounts?| id| mailbox(?:es)?)?(?: @)?[ :]{1,3}(?:is |are |was |not |either ){0,4}(?:unknown|unrecogni[sz]ed|not (?:known|recogni[sz]ed|listed|found|valid|correct|exist|on file|in (?:our|the|this) (?:system|database|directory|domain))|undeliverable|invalid\\b|non-?existent|nonexistant)`,
  "(?:unknown|invalid|illegal|nonexist(?:e|a)nt|non-existent|non existent|incorrect|unrecogni[sz]ed|no valid|undeliverable|bad|wrong|unkown)(?: or illegal| or invalid| local| virtual| e-?mail| email)? (?:users?|recipients?|mail ?box|accounts?|addressee|address(?:es)?(?! error)|local ?part|local-part|alias|login|name|destination address|to address|rcpt|e-?mail)(?! format)",
  "no such (?:local |virtual |e-?mail |valid )?(?:users?|mail ?box(?:es)?|recipients?|accounts?|address|addressee|person|people|members?|names?|alias|id\\b|here|customer|subscriber|login|local|object)",
  "(?:no|not) (?:mail ?box(?:es)?|accounts?|users?|valid recipients?|valid users?|recipients?|local mail ?box|one|such) (?:here|found|at this|by that|by this|with that|with this|matching|in|named|of that|exists|were found)",
  "there is no (?:such |one |user |mailbox |recipient |account |address )",
  "not an? (?:valid|known|local|real|active|existing) (?:e-?mail |local )?(?:users?|mail ?box|recipient|account|addressee|address|e-?mail)",
  `(?:${MAILBOX}|\\S{1,40} ?@|@)${NEAR}(?:do(?:es)?(?: not|n't|nt) (?:exist|appear to exist|have an?\\b[^.;]{0,60}account)|not exists?\\b|(?:was|is|could|can|cannot|can't|couldn't)(?: not)? be (?:found|located|resolved)|(?:was|is|were) not found|no longer (?:exists?|valid|available|in (?:use|service)|active|here|with|at|on)|not found|has been (?:deleted|removed|deprovisioned)|(?:was|is) (?:deleted|removed))`,
  "do(?:es)?(?: not|n't) have an? [^;!]{1,80}? account",
  "(?:not listed in|not found in|couldn't be found in|not in) (?:the )?(?:domino|public name|directory|address ?book|my control|local database|ldap|users? database|valid)",
  "several matches found in|invalid final delivery userid|recipient (?:name )?(?:is )?not (?:recogni[sz]ed|found|known)|unknown recipient|cannot find (?:your |the )?(?:recipient|user|mailbox)|no user(?:s)? (?:by|with)|possibly incorrect|no matches to nameserver|address not present|unknown (?:user|mailbox|account|extension)|mailbox (?:not found|unknown|invalid|not available here)|user ?unknown|nosuchuser|account not found|is not a known|not known (?:here|at this)",
  "(?:empfänger|benutzer|adresse|postfach|mailbox|konto|teilnehmer|mailadresse)\\w{0,20}[^.;]{0,40}(?:unbekannt|existiert nicht|nicht gefunden|nicht bekannt|nicht vorhanden|gibt es nicht|ungültig|nicht existiert)|unbekannter? (?:empfänger|benutzer|adresse)|kein(?:e|en)? (?:solche[rs]?|gültiger?) (?:empfänger|benutzer|postfach|adresse)",
  "(?:utilisateur|destinataire|adresse|bo[iî]te|compte|usager)[^.;]{0,50}(?:inconnue?|n'existe (?:pas|plus)|invalide|introuvable|inexistante?|non valide|n'est pas valide)",
  "(?:usuario|destinatario|buz[oó]n|cuenta|direcci[oó]n|casilla)[^.;]{0,40}(?:desconocid[oa]|no existe|inexistente|no encontrad[oa]|inv[aá]lid[oa]|no v[aá]lid[oa]|no es v[aá]lid[oa]|no se (?:ha )?encontr)",
  "(?:utente|destinatario|casella|indirizzo|account)[^.;]{0,40}(?:sconosciut[oa]|non esiste|inesistente|non trovat[oa]|non valid[oa]|non è valid[oa]|non presente)",
  "(?:usu[aá]rio|utilizador|destinat[aá]rio|caixa|conta|endere[cç]o)[^.;]{0,40}(?:desconhecid[oa]|n[aã]o existe|inexistente|n[aã]o encontrad[oa]|inv[aá]lid[oa]|n[aã]o foi encontrad[oa])",
  "(?:ユーザー?|受信者|宛先|アドレス|メールボックス|アカウント|利用者)[^。]{0,30}(?:存在しま(?:せん|した)|存在しない|存在せず|見つかりません|みつかりません|見つからない|不明|登録されていません|ありません|誤り|間違)|宛先不明",
  "(?:пользовател|получател|адресат|ящик|адрес|уч[её]тн)[^.;]{0,40}(?:не существует|не существовать|не найден|неизвест|отсутствует|не зарегистрирован|недействит|неверн|нет такого|уда?л[её]н)|нет такого (?:пользователя|ящика|адреса|получателя)|(?:неизвестный|несуществующий|неверный) (?:пользователь|получатель|адрес|ящик)",
);

/** Matches text that contains only these words and possibly the address. */
export const BARE_UNKNOWN_USER = anyOf(
  "^[\\s@:.#\\d]{0,30}(?:recipient address rejected: )?(?:user unknown|unknown user)[\\s@:.]{0,8}$",
);

export const MAILBOX_UNAVAILABLE = anyOf(
  "mailbox (?:is )?(?:unavailable|not available)|mailbox name (?:not allowed|is invalid)|recipient (?:is )?unavailable",
);

/** `mailbox unavailable` followed by a reason other than the mailbox. */
export const UNAVAILABLE_BY_POLICY = anyOf(
  "mailbox (?:is )?(?:unavailable|not available).{0,20}(?:reject\\w{0,3} (?:due to|for) )?polic(?:y|ies)\\b",
);

export const NO_SUCH_DOMAIN = anyOf(
  "(?:unknown|no such|bad|invalid|unrouteable|unroutable|nonexistent|non-existent)(?: mail| destination| recipient)? (?:host|domain|system)s?(?! error)",
  "(?:host|domain)(?: or (?:domain|host))?(?: name)?(?: is| \\S{1,80})? (?:unknown|not found|does not exist|doesn't exist|is not reachable|nonexistent|not known|has no (?:mail|mx|a) )(?![^.;]{0,20}try again)",
  "unroute?able (?:mail )?(?:address|domain)|all relevant mx records|couldn't find (?:any host|a mail exchanger|.{1,80} mail exchanger)|could not find a mail exchanger|nxdomain|no such host|name server: host not found|not found in dns|dns domain does not exist|domain not found|no mx (?:record|or a|found)|domain name not found|bad destination (?:host|system)|domain is not reachable|host found but no data record",
  "domain\\w{0,20} (?:existiert nicht|unbekannt)|domaine (?:inconnu|inexistant)|dominio (?:desconocido|inexistente|no existe|sconosciuto|non esiste)|dom[ií]nio (?:desconhecido|inexistente|n[aã]o existe)|ドメイン[^。]{0,20}(?:存在しません|見つかりません)|домен[^.;]{0,20}не (?:существует|найден)",
);

/** Failed DNS lookups that are only temporary. */
export const LOOKUP_FAILED = anyOf(
  "host not[ >]{1,4}found, try again|name service error[^;]{0,160}try again|temporary (?:lookup|dns|resolution) failure|dns (?:server|query|lookup)[^.;]{0,30}(?:timed? ?out|failed|failure)(?!: host)",
);

export const MOVED = anyOf(
  "no longer accepts? (?:any )?(?:mail|e-?mail|messages)|(?:has|have) (?:moved|changed)|moved (?:to|permanently)|(?:new|changed) (?:e-?mail )?address (?:is|to)|address (?:has )?changed|user not local; (?:please )?try|no longer (?:works?|employed|associated)|has left (?:the|our)|(?:nicht mehr|ne (?:travaille|fait) plus|ya no trabaja|non lavora più|não trabalha mais|больше не работает)",
);

export const TAKES_NO_MAIL = anyOf(
  "null ?mx|no smtp service|(?:host|domain|server|system|address)[^.;]{0,30}does(?: not|n't) (?:accept|receive)(?: any)? (?:mail|e-?mail|messages)(?! from)|does not accept mail \\(nullmx\\)|takes no mail",
);

export const NOT_DELIVERED = anyOf(
  "procmail|\\bpipe to\\b|command (?:died|failed|exited)|program failed|mailer error|local delivery failed|local configuration error|can't create|couldn't create|unable to (?:open|lock|chdir)|i\\/o error|no such file|permission denied",
  "mail(?:ing)? loop|loops? (?:back|detected|alert)|too many hops|hop count|hops exceeded|forwarding loop|duplicated message-id|maximum hop|routing loop",
  "(?:internal|system|server|processing|configuration|software|disk|database|ldap)(?: system| server| configuration)? (?:error|failure|problem|trouble)|system not capable|ldap server|delivery temporarily suspended|mail system (?:problem|error|full)|unable to contact",
);

export const EXPIRED = anyOf(
  "(?:connection|session|operation|conversation|delivery|connect|user open|read|smtp|envelope|message|retry|time)[^.;]{0,30}(?:timed? ?out|timeout|refused|reset|lost|expired|closed|dropped|exceeded)|timed out|in the queue too long|(?:could not|cannot|unable to) (?:be )?(?:deliver(?:ed)?|send|sent)[^.;]{0,30} for |giving up|delivery time expired|message (?:expired|too old)|queue (?:lifetime|time)|no route to host|network (?:error|is unreachable|unreachable)|host (?:is )?(?:unreachable|not responding|down)|socket error|did not accept our requests to connect|failed \\d{1,4} attempts|attempts? (?:failed|exceeded)|aborted after",
);

export const PROTOCOL = anyOf(
  "syntax error|command (?:not recogni[sz]ed|unrecogni[sz]ed|not implemented|rejected)|bad sequence|invalid arguments|need (?:rcpt|mail)|protocol error|unrecogni[sz]ed (?:command|parameter)",
);

export const FORBIDDEN = anyOf("\\bpolic(?:y|ies)\\b", "prohibit", "\\badministrative");

export const POLICY = anyOf(
  "administrative(?:ly)?[^.;]{0,12}prohibit|\\bpolic(?:y|ies)\\b|access denied|\\bdenied\\b|\\bprohibited\\b|not (?:authori[sz]ed|permitted|allowed)|\\bforbidden\\b|security (?:violation|reason|polic)|unfortunately, messages from|\\brefused\\b|\\brejected for\\b|rejected due",
);
