BEGIN TRANSACTION;
CREATE TABLE autosaves (
    person TEXT NOT NULL REFERENCES people (initials),
    item INTEGER NOT NULL REFERENCES items (id),
    base_version INTEGER NOT NULL REFERENCES versions (id),
    body TEXT NOT NULL CHECK (json_valid(body)),
    at TEXT NOT NULL,
    PRIMARY KEY (person, item, base_version)
);
INSERT INTO "autosaves" VALUES('RE',4,4,'{"steps": ["half a sent"]}','2026-11-22T13:03:00.000+00:00');
CREATE TABLE barred (
    person TEXT NOT NULL REFERENCES people (initials),
    item INTEGER NOT NULL REFERENCES items (id),
    PRIMARY KEY (person, item)
) WITHOUT ROWID;
INSERT INTO "barred" VALUES('AU',7);
CREATE TABLE blind_assignments (
    token TEXT PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES blind_sessions (id),
    scorer TEXT NOT NULL REFERENCES people (initials),
    kind TEXT NOT NULL CHECK (kind IN ('scores', 'pair')),
    place INTEGER NOT NULL,
    -- The one to score, or the left one of a pair.
    version INTEGER NOT NULL REFERENCES versions (id),
    on_the_right INTEGER REFERENCES versions (id),
    spectrum TEXT REFERENCES spectra (sha256),
    repeat_of TEXT REFERENCES blind_assignments (token),
    gold INTEGER NOT NULL,
    UNIQUE (session, scorer, place),
    CHECK ((kind = 'pair') = (on_the_right IS NOT NULL))
) WITHOUT ROWID;
INSERT INTO "blind_assignments" VALUES('04mHquuDIbk-cUvRyMeczkZfFajwXjj0l0A-7iBlpKA',1,'AU','scores',1,4,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('9cOj7fY06-h8Qz2t04ELTNBBSxMJAWV4-s4ceaPVdO0',3,'AU','scores',2,5,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('D2JxK7SZiJwtxhwcXpTVkDGY86R5TBWhb-NZsEKySoQ',1,'RE','pair',6,5,6,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('DLsaZcnZSsQEiE0vBBPhZjcdMW7e5T6bNNwsODRbU9E',3,'RE','scores',3,4,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('EUtrom1_4HrrHMpGIFSSfbBYzq5iuiuSx-2F6cy8MNA',1,'AU','pair',6,6,5,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('EbUBOS3FMYODxT_6NQ5SBp8JFd-mOCtVt0_kY7D6uaY',2,'AU','scores',4,6,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('Fp67Se0NBJbl7nish75ksBaWNc3TKnQTbY2GOsYXWMw',3,'RE','pair',5,4,3,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('GtqLCqdEWi1as2n70SKowQOdpYCPaFFDnfdkIKKt5rk',3,'AU','scores',3,3,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('IGI9b2gJxlGMnJq1DAT7Uqar6MkU8bBzttb6h6h9ZPE',2,'RE','pair',6,5,6,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('MpZCSTfpUVKFYeoE1ArflntB-hAjS2lMmRZnXUMvnwY',2,'AU','pair',5,3,4,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('Qju9CeoJ5Ax7YKz2QKzuJ1_bOIjZWDqSpb2obZgEzi4',3,'AU','pair',5,3,4,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('R8RU-gzb9nDmlZbKGAGPDL1Tw0qYk9495HxLCZQvJwU',2,'RE','pair',5,4,3,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('SYOZfeKZvHZ1XaWsLUAvixKkJ9KHXZLNqOQE_AHTNkE',2,'RE','scores',3,4,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('Su4cnKLGV7rtOl35Jc3_TWJSr25-btpqfMzbqa4a7wo',3,'RE','pair',6,5,6,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('T8IPE6VWwgSAvW8wmJkWderh_6gEosCJUF6Zkt6xvBc',1,'RE','scores',3,4,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('URz6Zo83GODlT0Ye8K-gq_FdRYa_Z9s8ByOiJ0hQALg',3,'RE','scores',1,6,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('VXoZeAKy2zd8uH1XvoEaPRZzPzGnrOMrWvYKWbHjUfM',3,'AU','scores',4,6,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('W1sVITcbwkh_4_eMnASEkm4ttQi4KRtuVfa7Q1rhUyQ',1,'RE','scores',4,5,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('XmRZC3IsLwkNwOB5VqGbJ5OA7OyoBFeAMR7wl2S9yzM',2,'AU','scores',2,5,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('YWp0OLhq8yKF33SpYl3wPQCbM0UElP-8dcQSaqIRiYI',2,'AU','scores',1,4,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('Z10FfuTPe5hkdSJCWUXtpX9ETN70YK_VixXo30PX9rQ',2,'RE','scores',4,5,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('buDkpV0s-E4_o5GqWptXFKFoaxnNRpM0BTVkTkTxnzo',1,'AU','pair',5,3,4,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('c4P1lpx4xrgsHI5LE90Tc2p3blI__9v85zJbLBWMYws',1,'RE','scores',1,6,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('eFrwFJMCnUEDTEl0zkByo5aUdhjMnU_kETx_In1pGIY',2,'AU','scores',3,3,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('hSqWCtPigErNGO-p43GyRb56zWo_g9KXupWzyPuSEeE',3,'AU','scores',1,4,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('j9ch2kIVKG7AUX1XvIdOdjh6UIeSK4F649T9YYmImCE',1,'RE','pair',5,4,3,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('jAmXfufgZ2rKxx-B6AzdtrZDzXlUt6EK6ep3J-iS5y4',2,'RE','scores',2,3,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('lJh1dJLyV1EFIm_5CjSI5gGzTq4BMHC6q3ukod0Pw5A',2,'RE','scores',1,6,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('lMihFdSuC201wDyLAQZPMqxzwYIA0CNXKpUdU4zap6o',1,'RE','scores',2,3,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('mGx0UvnBXAYrSNnUeaB6XZqALktTJb86qHSxuw0WTJE',3,'AU','pair',6,6,5,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('mxsXrI5FisLui-A3fjcGfmLRRSd2YxtUD3XAEjXNTkA',1,'AU','scores',2,5,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('p_XLLQo2COMDqHgrPDvJdNOGHay21Rkh_l7xTIRkl9A',1,'AU','scores',3,3,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('vcHO6jetm4Y3IAfE4Da63QI_cE2MS-vnpY9jE6v8Id0',2,'AU','pair',6,6,5,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('xiUboKXRyPTJoIgbCrKs8atz4n6wCTrMaV-leN4NRUY',3,'RE','scores',4,5,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('xxQY_VE5R2kqNv4bxxP1ImRonS7_4Jf0Iy736lprGwI',3,'RE','scores',2,3,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('yJIH7lGVAJrb8oKAiEZ5XWQsAZNdJeEJDpnhHcZPFk0',1,'AU','scores',4,6,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
CREATE TABLE blind_judgements (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    session INTEGER NOT NULL REFERENCES blind_sessions (id),
    judge TEXT NOT NULL,
    version INTEGER NOT NULL REFERENCES versions (id),
    on_the_right INTEGER REFERENCES versions (id),
    -- NULL: nothing that can be read as one.
    answer TEXT CHECK (answer IS NULL OR json_valid(answer)),
    reasoning TEXT NOT NULL,
    settings TEXT NOT NULL CHECK (json_valid(settings)),
    said TEXT NOT NULL CHECK (json_valid(said)),
    usage TEXT NOT NULL CHECK (json_valid(usage)),
    cost REAL,
    person TEXT REFERENCES people (initials),
    at TEXT NOT NULL
);
INSERT INTO "blind_judgements" VALUES(1,'9b6c3f64d61146f4aff31a3b6b16dff5',1,'judge-70b',3,NULL,'{"coherence": 3, "consistency": 4, "comment": "Sound.", "wrong_steps": []}','First the lines.','{"temperature": 0.0}','["{...}"]','{"requests": 100, "prompt": 20, "cached": 0, "completion": 0}',0.0012,'CO','2026-11-22T13:43:00.000+00:00');
CREATE TABLE blind_preferences (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    assignment TEXT NOT NULL REFERENCES blind_assignments (token),
    preference TEXT NOT NULL CHECK (preference IN ('left', 'right', 'equal', 'both bad')),
    comment TEXT NOT NULL,
    at TEXT NOT NULL
);
INSERT INTO "blind_preferences" VALUES(1,'298512076d084ec2ad08bf39e1f37fd2','j9ch2kIVKG7AUX1XvIdOdjh6UIeSK4F649T9YYmImCE','left','','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_preferences" VALUES(2,'df560967ea0d4427a82996123c34297c','D2JxK7SZiJwtxhwcXpTVkDGY86R5TBWhb-NZsEKySoQ','left','','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_preferences" VALUES(3,'b5a9a5d8d70e476e904b035567914171','R8RU-gzb9nDmlZbKGAGPDL1Tw0qYk9495HxLCZQvJwU','left','','2026-11-22T13:23:00.000+00:00');
INSERT INTO "blind_preferences" VALUES(4,'c2d76a697e334d949bf46fe11ad14721','IGI9b2gJxlGMnJq1DAT7Uqar6MkU8bBzttb6h6h9ZPE','left','','2026-11-22T13:23:00.000+00:00');
CREATE TABLE blind_scores (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    assignment TEXT NOT NULL REFERENCES blind_assignments (token),
    -- NULL: cannot tell from these data.
    coherence INTEGER CHECK (coherence BETWEEN 0 AND 5),
    consistency INTEGER CHECK (consistency BETWEEN 0 AND 5),
    comment TEXT NOT NULL,
    wrong_steps TEXT NOT NULL CHECK (json_valid(wrong_steps)),
    at TEXT NOT NULL
);
INSERT INTO "blind_scores" VALUES(1,'7fd190c771b54e2088c1e8e16b52a601','c4P1lpx4xrgsHI5LE90Tc2p3blI__9v85zJbLBWMYws',4,NULL,'Fair.','["s1"]','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_scores" VALUES(2,'4cf3f6c92a164f2db615cc13972bd49d','lMihFdSuC201wDyLAQZPMqxzwYIA0CNXKpUdU4zap6o',4,NULL,'Fair.','["s1"]','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_scores" VALUES(3,'933fbb31461f4119be4ba09ab8259e89','T8IPE6VWwgSAvW8wmJkWderh_6gEosCJUF6Zkt6xvBc',4,NULL,'Fair.','["s1"]','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_scores" VALUES(4,'5f987ede50ce47958e31a9b0e9a28746','W1sVITcbwkh_4_eMnASEkm4ttQi4KRtuVfa7Q1rhUyQ',4,NULL,'Fair.','["s1"]','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_scores" VALUES(5,'0f98ba4161ab457dad420975aed523e1','lJh1dJLyV1EFIm_5CjSI5gGzTq4BMHC6q3ukod0Pw5A',4,NULL,'Fair.','["s1"]','2026-11-22T13:23:00.000+00:00');
INSERT INTO "blind_scores" VALUES(6,'0b91075e909a49b681f89e7c3d236e1e','jAmXfufgZ2rKxx-B6AzdtrZDzXlUt6EK6ep3J-iS5y4',4,NULL,'Fair.','["s1"]','2026-11-22T13:23:00.000+00:00');
INSERT INTO "blind_scores" VALUES(7,'4904a4c418a9471692d0486f569e50a3','SYOZfeKZvHZ1XaWsLUAvixKkJ9KHXZLNqOQE_AHTNkE',4,NULL,'Fair.','["s1"]','2026-11-22T13:23:00.000+00:00');
INSERT INTO "blind_scores" VALUES(8,'5bec111e5b8b4c08b023112c1cf0d1be','Z10FfuTPe5hkdSJCWUXtpX9ETN70YK_VixXo30PX9rQ',4,NULL,'Fair.','["s1"]','2026-11-22T13:23:00.000+00:00');
CREATE TABLE blind_sessions (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    plan TEXT NOT NULL CHECK (json_valid(plan)),
    -- What the tasks ask, in the words of the day: task files may change while people score.
    questions TEXT NOT NULL CHECK (json_valid(questions)),
    notes TEXT NOT NULL CHECK (json_valid(notes)),
    person TEXT REFERENCES people (initials),
    at TEXT NOT NULL
);
INSERT INTO "blind_sessions" VALUES(1,'dd20f641d34f4361915e0d2ccab8d693','ours against gpt','{"analysis": {"dimension": "consistency", "first": null, "gold_within": null, "margin": null, "repeats_within_1": null, "second": null, "stopping": "when every question is answered", "without_revealing": false}, "design": "same spectra", "each": 2, "earlier": "declare", "filter": {"batch": null, "disagreement": null, "simulated": null, "snr_max": null, "snr_min": null, "states": [], "survey": null}, "giveaways": "flag", "gold": [], "items": [3, 4, 5, 6], "mode": "both", "name": "ours against gpt", "number": null, "repeats": 0, "scorers": ["RE", "AU"], "seed": 1, "sources": [], "strata": [], "tasks": [], "training": []}','{"cv": {"guide": "- **State 1: quiescence and low state:**\n  - **(Primary):** Broad emission in the Balmer series, Hα 6563 and Hβ 4861 first; equivalent width of tens of Å, FWHM above about 1000 km/s.\n  - **(Secondary):** Double peaks in Hα, Hβ or He I (an inclined disc): two maxima 500 to 1500 km/s apart around a central dip.\n  - **(Secondary):** Emission of He I 4471, 5876, 6678 and often weak He II 4686; a Balmer decrement flatter than in nebulae.\n  - **(Secondary):** In faint systems the white dwarf shows: broad Balmer absorption around the emission, a blue continuum; TiO bands of the donor in the red.\n- **State 2: outburst and high state (dwarf novae in outburst, novalikes):**\n  - **(Primary):** A steep blue continuum with weak Balmer lines: broad absorption troughs with narrow emission cores, Hα most filled in; Hα often still in emission.\n  - **(Secondary):** He II 4686 and the Bowen blend 4640 in emission.\n- **State 3: magnetic systems:**\n  - **(Secondary):** He II 4686 nearly as strong as Hβ (ratio of equivalent widths above 0.4), narrow asymmetric lines, sometimes cyclotron humps.\n- **Check before deciding:**\n  - **(Check):** Two Balmer lines at one velocity at least; a single line may be a sky residual, a cosmic ray or an arm join. The redshift is that of a star.\n- **(Confusers):** objects that look alike, and how to tell them apart:\n  - **Active M dwarf (dMe):** narrow Hα (unresolved, a few Å of equivalent width) on an M-dwarf spectrum with TiO and CaH, no blue continuum, no He II.\n  - **Nebula, H II region, emission-line galaxy:** narrow lines with [O III] 5007, [N II] 6583, [S II] 6716; a CV shows no forbidden lines (old novae aside).\n  - **Quasar or Seyfert galaxy:** broad lines at wavelengths that fit a large redshift (Mg II 2800, C IV 1549), not the Balmer series near zero velocity.\n  - **Be star, Herbig Ae/Be, T Tauri star:** emission narrower than about 600 km/s on an early-type or late-type photosphere; Li I 6708 in T Tauri stars.\n  - **Symbiotic star:** an M giant''s TiO bands with narrow emission, He II 4686, [O III], Raman O VI 6825.", "question": "Analyze the provided spectrum to determine if it is a **Cataclysmic Variable (CV)**.", "title": "Cataclysmic Variable (CV)"}}','[]','CO','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_sessions" VALUES(2,'e07e879ec49240059e6c3929f50aa3db','ours against gpt','{"analysis": {"dimension": "consistency", "first": null, "gold_within": null, "margin": null, "repeats_within_1": null, "second": null, "stopping": "when every question is answered", "without_revealing": false}, "design": "same spectra", "each": 2, "earlier": "declare", "filter": {"batch": null, "disagreement": null, "simulated": null, "snr_max": null, "snr_min": null, "states": [], "survey": null}, "giveaways": "flag", "gold": [], "items": [3, 4, 5, 6], "mode": "both", "name": "ours against gpt", "number": null, "repeats": 0, "scorers": ["RE", "AU"], "seed": 1, "sources": [], "strata": [], "tasks": [], "training": []}','{"cv": {"guide": "- **State 1: quiescence and low state:**\n  - **(Primary):** Broad emission in the Balmer series, Hα 6563 and Hβ 4861 first; equivalent width of tens of Å, FWHM above about 1000 km/s.\n  - **(Secondary):** Double peaks in Hα, Hβ or He I (an inclined disc): two maxima 500 to 1500 km/s apart around a central dip.\n  - **(Secondary):** Emission of He I 4471, 5876, 6678 and often weak He II 4686; a Balmer decrement flatter than in nebulae.\n  - **(Secondary):** In faint systems the white dwarf shows: broad Balmer absorption around the emission, a blue continuum; TiO bands of the donor in the red.\n- **State 2: outburst and high state (dwarf novae in outburst, novalikes):**\n  - **(Primary):** A steep blue continuum with weak Balmer lines: broad absorption troughs with narrow emission cores, Hα most filled in; Hα often still in emission.\n  - **(Secondary):** He II 4686 and the Bowen blend 4640 in emission.\n- **State 3: magnetic systems:**\n  - **(Secondary):** He II 4686 nearly as strong as Hβ (ratio of equivalent widths above 0.4), narrow asymmetric lines, sometimes cyclotron humps.\n- **Check before deciding:**\n  - **(Check):** Two Balmer lines at one velocity at least; a single line may be a sky residual, a cosmic ray or an arm join. The redshift is that of a star.\n- **(Confusers):** objects that look alike, and how to tell them apart:\n  - **Active M dwarf (dMe):** narrow Hα (unresolved, a few Å of equivalent width) on an M-dwarf spectrum with TiO and CaH, no blue continuum, no He II.\n  - **Nebula, H II region, emission-line galaxy:** narrow lines with [O III] 5007, [N II] 6583, [S II] 6716; a CV shows no forbidden lines (old novae aside).\n  - **Quasar or Seyfert galaxy:** broad lines at wavelengths that fit a large redshift (Mg II 2800, C IV 1549), not the Balmer series near zero velocity.\n  - **Be star, Herbig Ae/Be, T Tauri star:** emission narrower than about 600 km/s on an early-type or late-type photosphere; Li I 6708 in T Tauri stars.\n  - **Symbiotic star:** an M giant''s TiO bands with narrow emission, He II 4686, [O III], Raman O VI 6825.", "question": "Analyze the provided spectrum to determine if it is a **Cataclysmic Variable (CV)**.", "title": "Cataclysmic Variable (CV)"}}','[]','CO','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_sessions" VALUES(3,'a0aa3ec7f7fe4a40adcb5b625adb96f3','ours against gpt','{"analysis": {"dimension": "consistency", "first": null, "gold_within": null, "margin": null, "repeats_within_1": null, "second": null, "stopping": "when every question is answered", "without_revealing": false}, "design": "same spectra", "each": 2, "earlier": "declare", "filter": {"batch": null, "disagreement": null, "simulated": null, "snr_max": null, "snr_min": null, "states": [], "survey": null}, "giveaways": "flag", "gold": [], "items": [3, 4, 5, 6], "mode": "both", "name": "ours against gpt", "number": null, "repeats": 0, "scorers": ["RE", "AU"], "seed": 1, "sources": [], "strata": [], "tasks": [], "training": []}','{"cv": {"guide": "- **State 1: quiescence and low state:**\n  - **(Primary):** Broad emission in the Balmer series, Hα 6563 and Hβ 4861 first; equivalent width of tens of Å, FWHM above about 1000 km/s.\n  - **(Secondary):** Double peaks in Hα, Hβ or He I (an inclined disc): two maxima 500 to 1500 km/s apart around a central dip.\n  - **(Secondary):** Emission of He I 4471, 5876, 6678 and often weak He II 4686; a Balmer decrement flatter than in nebulae.\n  - **(Secondary):** In faint systems the white dwarf shows: broad Balmer absorption around the emission, a blue continuum; TiO bands of the donor in the red.\n- **State 2: outburst and high state (dwarf novae in outburst, novalikes):**\n  - **(Primary):** A steep blue continuum with weak Balmer lines: broad absorption troughs with narrow emission cores, Hα most filled in; Hα often still in emission.\n  - **(Secondary):** He II 4686 and the Bowen blend 4640 in emission.\n- **State 3: magnetic systems:**\n  - **(Secondary):** He II 4686 nearly as strong as Hβ (ratio of equivalent widths above 0.4), narrow asymmetric lines, sometimes cyclotron humps.\n- **Check before deciding:**\n  - **(Check):** Two Balmer lines at one velocity at least; a single line may be a sky residual, a cosmic ray or an arm join. The redshift is that of a star.\n- **(Confusers):** objects that look alike, and how to tell them apart:\n  - **Active M dwarf (dMe):** narrow Hα (unresolved, a few Å of equivalent width) on an M-dwarf spectrum with TiO and CaH, no blue continuum, no He II.\n  - **Nebula, H II region, emission-line galaxy:** narrow lines with [O III] 5007, [N II] 6583, [S II] 6716; a CV shows no forbidden lines (old novae aside).\n  - **Quasar or Seyfert galaxy:** broad lines at wavelengths that fit a large redshift (Mg II 2800, C IV 1549), not the Balmer series near zero velocity.\n  - **Be star, Herbig Ae/Be, T Tauri star:** emission narrower than about 600 km/s on an early-type or late-type photosphere; Li I 6708 in T Tauri stars.\n  - **Symbiotic star:** an M giant''s TiO bands with narrow emission, He II 4686, [O III], Raman O VI 6825.", "question": "Analyze the provided spectrum to determine if it is a **Cataclysmic Variable (CV)**.", "title": "Cataclysmic Variable (CV)"}}','[]','CO','2026-11-22T13:03:00.000+00:00');
CREATE TABLE blind_states (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    session INTEGER NOT NULL REFERENCES blind_sessions (id),
    state TEXT NOT NULL CHECK (state IN ('open', 'closed')),
    rubric TEXT CHECK (rubric IS NULL OR json_valid(rubric)),
    person TEXT REFERENCES people (initials),
    at TEXT NOT NULL,
    UNIQUE (session, state),
    CHECK ((state = 'open') = (rubric IS NOT NULL))
);
INSERT INTO "blind_states" VALUES(1,'d0aa1bea05124d528a7cf0035df28cea',1,'open','{"version": "1", "note": "The published evaluation names two anchors, 0 (complete hallucination) and 5 (fully correct). The anchors 1 to 4, the questions and the choices between two traces were written for this program.", "cannot_tell": {"short": "cannot tell", "text": "These data do not let me judge it: too noisy, too short a range, or outside what I know. It counts as an answer, not as a low score."}, "scales": [{"key": "coherence", "title": "Coherence", "question": "Does each step follow from what was seen before, and the answer from the steps? Judge the reasoning, not whether the verdict is right.", "anchors": [{"score": 0, "short": "complete hallucination", "text": "No line of thought. The steps refer to things that were never looked at or said, and the answer comes from nowhere.", "published": true}, {"score": 1, "short": "mostly incoherent", "text": "Single sentences make sense, but steps contradict each other or do not lead on, and the answer does not follow.", "published": false}, {"score": 2, "short": "broken", "text": "There is a line of thought with a break in it that matters: a contradiction left standing, or an answer that the steps do not bear.", "published": false}, {"score": 3, "short": "loose", "text": "The answer follows in the main, but a step is missing, needless or repeated, or a window is opened and then not used.", "published": false}, {"score": 4, "short": "sound, small lapses", "text": "Each step has its reason and the answer follows. A slip or two that changes nothing.", "published": false}, {"score": 5, "short": "fully correct", "text": "Every step follows from what was seen, alternatives are weighed where there are any, and the answer follows from all of it.", "published": true}]}, {"key": "consistency", "title": "Physical consistency", "question": "Is what it says about the spectrum there, and does the physics hold: lines, wavelengths, frames, widths, what they mean? Judge the claims, not whether the verdict is right.", "anchors": [{"score": 0, "short": "complete hallucination", "text": "What it describes is not in the spectrum, or is physically impossible throughout.", "published": true}, {"score": 1, "short": "mostly wrong", "text": "One or two claims hold. Most features are misnamed, misplaced or not there.", "published": false}, {"score": 2, "short": "a serious error", "text": "Several claims hold, but one that the argument rests on is wrong: a line that is not there, the wrong frame, noise or sky taken for a feature.", "published": false}, {"score": 3, "short": "right in the main", "text": "The features that decide are right. Others are wrong, overstated, or claimed where the data cannot show them.", "published": false}, {"score": 4, "short": "right, small errors", "text": "All features of weight are there and rightly read. A small error in a number, a name or a strength.", "published": false}, {"score": 5, "short": "fully correct", "text": "Every claim can be seen in the spectrum and is rightly interpreted, and noise and limits of the data are named where they matter.", "published": true}]}], "preference_question": "Whose reasoning about this spectrum is better? Judge the reasoning, regardless of the verdict.", "choices": [{"key": "left", "short": "left better", "text": "The reasoning on the left is better: sounder, or truer to the spectrum."}, {"key": "right", "short": "right better", "text": "The reasoning on the right is better: sounder, or truer to the spectrum."}, {"key": "equal", "short": "equal", "text": "Both are about as good, and good enough to be of use."}, {"key": "both bad", "short": "both bad", "text": "Neither is of use. Choose this rather than the less bad one."}]}','CO','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_states" VALUES(2,'503b7baee5b840b79212591e813749d5',2,'open','{"version": "1", "note": "The published evaluation names two anchors, 0 (complete hallucination) and 5 (fully correct). The anchors 1 to 4, the questions and the choices between two traces were written for this program.", "cannot_tell": {"short": "cannot tell", "text": "These data do not let me judge it: too noisy, too short a range, or outside what I know. It counts as an answer, not as a low score."}, "scales": [{"key": "coherence", "title": "Coherence", "question": "Does each step follow from what was seen before, and the answer from the steps? Judge the reasoning, not whether the verdict is right.", "anchors": [{"score": 0, "short": "complete hallucination", "text": "No line of thought. The steps refer to things that were never looked at or said, and the answer comes from nowhere.", "published": true}, {"score": 1, "short": "mostly incoherent", "text": "Single sentences make sense, but steps contradict each other or do not lead on, and the answer does not follow.", "published": false}, {"score": 2, "short": "broken", "text": "There is a line of thought with a break in it that matters: a contradiction left standing, or an answer that the steps do not bear.", "published": false}, {"score": 3, "short": "loose", "text": "The answer follows in the main, but a step is missing, needless or repeated, or a window is opened and then not used.", "published": false}, {"score": 4, "short": "sound, small lapses", "text": "Each step has its reason and the answer follows. A slip or two that changes nothing.", "published": false}, {"score": 5, "short": "fully correct", "text": "Every step follows from what was seen, alternatives are weighed where there are any, and the answer follows from all of it.", "published": true}]}, {"key": "consistency", "title": "Physical consistency", "question": "Is what it says about the spectrum there, and does the physics hold: lines, wavelengths, frames, widths, what they mean? Judge the claims, not whether the verdict is right.", "anchors": [{"score": 0, "short": "complete hallucination", "text": "What it describes is not in the spectrum, or is physically impossible throughout.", "published": true}, {"score": 1, "short": "mostly wrong", "text": "One or two claims hold. Most features are misnamed, misplaced or not there.", "published": false}, {"score": 2, "short": "a serious error", "text": "Several claims hold, but one that the argument rests on is wrong: a line that is not there, the wrong frame, noise or sky taken for a feature.", "published": false}, {"score": 3, "short": "right in the main", "text": "The features that decide are right. Others are wrong, overstated, or claimed where the data cannot show them.", "published": false}, {"score": 4, "short": "right, small errors", "text": "All features of weight are there and rightly read. A small error in a number, a name or a strength.", "published": false}, {"score": 5, "short": "fully correct", "text": "Every claim can be seen in the spectrum and is rightly interpreted, and noise and limits of the data are named where they matter.", "published": true}]}], "preference_question": "Whose reasoning about this spectrum is better? Judge the reasoning, regardless of the verdict.", "choices": [{"key": "left", "short": "left better", "text": "The reasoning on the left is better: sounder, or truer to the spectrum."}, {"key": "right", "short": "right better", "text": "The reasoning on the right is better: sounder, or truer to the spectrum."}, {"key": "equal", "short": "equal", "text": "Both are about as good, and good enough to be of use."}, {"key": "both bad", "short": "both bad", "text": "Neither is of use. Choose this rather than the less bad one."}]}','CO','2026-11-22T13:23:00.000+00:00');
INSERT INTO "blind_states" VALUES(3,'336c65f3ae0248dea873b7b7e094731a',1,'closed',NULL,'CO','2026-11-22T13:43:00.000+00:00');
CREATE TABLE decision_figures (
    person TEXT, round TEXT, day TEXT, task TEXT, batch TEXT, decisions INTEGER NOT NULL,
    PRIMARY KEY (person, round, day, task, batch)
) WITHOUT ROWID;
INSERT INTO "decision_figures" VALUES('AU','audit','2026-11-22','cv','november',3);
INSERT INTO "decision_figures" VALUES('AX','audit','2026-11-22','cv','november',1);
INSERT INTO "decision_figures" VALUES('RE','revision','2026-11-22','cv','november',3);
INSERT INTO "decision_figures" VALUES('RE','screening','2026-11-22','cv','',1);
INSERT INTO "decision_figures" VALUES('RE','screening','2026-11-22','cv','november',3);
INSERT INTO "decision_figures" VALUES('VO','vote','2026-11-22','cv','november',1);
INSERT INTO "decision_figures" VALUES('ZO','vote','2026-11-22','cv','november',1);
CREATE TABLE decisions (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES items (id),
    version INTEGER NOT NULL REFERENCES versions (id),
    person TEXT NOT NULL REFERENCES people (initials),
    round TEXT NOT NULL,
    verb TEXT NOT NULL,
    reason TEXT NOT NULL,
    comment TEXT NOT NULL,
    withdraws INTEGER UNIQUE REFERENCES decisions (id),
    rules INTEGER NOT NULL REFERENCES settings (id),
    at TEXT NOT NULL,
    CHECK ((verb = 'undo') = (withdraws IS NOT NULL))
);
INSERT INTO "decisions" VALUES(1,'c52e9a9a0bc541a79bcd88e0adf773eb',1,1,'RE','screening','keep','','',NULL,2,'2026-11-22T12:00:00.000+00:00');
INSERT INTO "decisions" VALUES(2,'e931b2694d07424cbeae9f4060267fa3',1,1,'RE','revision','submit','','',NULL,2,'2026-11-22T12:00:00.000+00:00');
INSERT INTO "decisions" VALUES(3,'544dfdfa40d84e2d981979bcd99054c7',1,1,'AU','audit','pass','','',NULL,2,'2026-11-22T12:00:00.000+00:00');
INSERT INTO "decisions" VALUES(4,'19a84b2595b342c4b97913bbe7f0e6ef',1,1,'AX','audit','pass','','',NULL,2,'2026-11-22T12:00:00.000+00:00');
INSERT INTO "decisions" VALUES(5,'5131ff324d4748b293971861f4949c78',1,1,'VO','vote','approve','','Fine.
Two lines.',NULL,2,'2026-11-22T12:00:00.000+00:00');
INSERT INTO "decisions" VALUES(6,'becdab3cd49442b2bfa016baac1fd942',1,1,'VO','vote','undo','','',5,2,'2026-11-22T12:00:00.000+00:00');
INSERT INTO "decisions" VALUES(7,'a9a0d9370a7c40fa9a3ccd8dd3986aac',1,1,'VO','vote','approve','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(8,'d9365d95e3e14355a7281fa50d914ccc',1,1,'ZO','vote','approve','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(9,'955ed9d5ea9b48b991c9d3d4e2677a18',2,2,'RE','screening','keep','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(10,'f15092d02ad3455f96e8462e1d44fad5',2,2,'RE','revision','submit','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(11,'6e848b6365134172a3e762b960a2f169',2,2,'AU','audit','return','','look again',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(12,'4a246eb20967467e9c55a0116355160a',7,7,'RE','screening','keep','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(13,'e9a768a627ad468bb7890cf502dc69fc',7,7,'RE','revision','submit','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(14,'053412ca745c41449537a8c97972177a',7,7,'AU','audit','pass','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(15,'3a5599b10ab14baf8a2efe9ca9c7154e',9,9,'RE','screening','reject','bad_data','',NULL,2,'2026-11-22T12:03:00.000+00:00');
CREATE TABLE exports (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    person TEXT NOT NULL REFERENCES people (initials),
    manifest TEXT NOT NULL CHECK (json_valid(manifest)),
    at TEXT NOT NULL
);
INSERT INTO "exports" VALUES(1,'first','CO','{"items": [1], "note": "größer"}','2026-11-22T12:03:00.000+00:00');
CREATE TABLE grids (
    sha256 TEXT PRIMARY KEY,
    pixels INTEGER NOT NULL,
    wavelength_type TEXT NOT NULL CHECK (wavelength_type IN ('<f4', '<f8')),
    wavelength BLOB NOT NULL
) WITHOUT ROWID;
INSERT INTO "grids" VALUES('c0e9d151a64b62d94930416cf0bcd9221e5428e046c7ebd01d72e8deb336c626',300,'<f8',X'789CEDC1F923138A03007047B2353247ACD058CD726D29D764C895AB7DB7F608152B42CB44C815CB99A369F12CE67AE426B98F5C89468A1C092B32595A52B926E69BF723F5DE0FDF3FE0FBF908E8861AFB0D59E7CF3E0F5C6BF5F6743D9678336CF7B9901922844843BD916D2811B032CB0FBF8B703F46675A9BD2A57B8E5E495E750BDF0D9F30DF88CC6346B017A0633D299822945E4E701A706179ADB78F567733363FF94107B0A41D79854475EB481D8CAC768C4605C6B41499BC8F1CF17C393D51040173B2941FDBD0BB4AA054D3D1D63A55362945C1E850A510244E3E8C6FB6594F975B5B2FB9202AA44C2B571A7F9F96C77DA51D314DD60CD910E7725BC6B307DF5B7F4A50BC648CE430099F2DD6CDD2519CE1AFEBF07E0F63E345DB708946FDE4374686C9A872F82575B7C35AFBC968236DA7C751D93257F1FBF6BA27F58A9DABCE5865103C0AA192F992F68EBD5A2C889432278C4F116D5E0F4F352349C465AD1CD520426A24461E8DE1CC235FE140565B029FF6FC177253BE1590FC42EB98D9C71AE7BAAE56B0DF5471F085FE1ADFF934B26487CBB397788B5D0E417297846081068653B22127743FDFFEF2088607F3BC32EF1B13AEABB045E6C6A0624B48A45FAACD3541F5539CFEDD2CD6EC11D5E756D66F43656589CECB05215215301E41A6B761EEB0107B0DCF22A6C3735393E45ED89ECE551774A0595A17D588DE4B4E2F966FE99C324CE0E367182278E7D2F0A18BD552A50158FE11FFEBCDEFA31DA01D066D8594FD14112CEEC291E77D2A049B44A5AA20C2808246C1A265D98FCFD083973DD3AF539C9A83D24F0B5E380D82479268B27FC2CE7B4BE4CA29023E25DF7382012560F01F11C5FE02C971B144242EA4961408912E4C37CBD432BD00830517DEAF6222F2A2FE72CAE23A6503EE8D2AFB5CA32EC6AC3131A1015B02878FF34E09CB5E97DBE382CA9BD5EA17395ABDE25BA0E083467CB1DAB5BCBA34D5105B5939662A71C9C3D6827655E19BF6C9008DE1E19CAA98DCC41130EB75FEA2FFFB657F04DBBF85C16B9D713DEEFE53AA196CE8D975FBABD19367F975C4BD48FD12C1FE6CD13255943723F0D91F2BB7C6D889CC94EF7309F31AD7D87530D29BDAB34A7EF5AEDC91C26F5676F9BC4D5FE96A79F5275DF0B71FED0E78E2F87FE2C9C8A9112F01E08A1169D75F1384E64E7839D44123DE81AAAED7F1AEF23C44BE0440CBA48ECE99FA6C461781036908A0B88CE844AC6422A03C4BC2246043DD4BB1ADB7DB6CDA485C78268026FD918FE50CAA4AB7130D73DEDADFA84DBA7DC2020BD0A2AD99BBE8F62915D6F68BDD0DE51D73EBA482E24E3728B249B09BDFD7E5A706E3D28B1DED715B023A3A62CF830EB1CA72999AD30B976CEA2BCDA242B49FA212A78DEAB0FBE1141DFB0511170088AC73551633A7F0C1D46CDE14275FB1C7D0E6841CA732C806A9762A69AB9CDE6305B55FDC0C0F1796EB046D647C159A8CDF436E5C5239C7987798CD4EAA3B34BDE48E89B3BAE3DCDA7CBEA23614482AEC1E1C1A662D2328C26D8D1B7729AFD34768E37528FCE11A1184F266772446787264F1E4CBAC561D69D743244C49BDCFA418602209D16CC7CDF2F5790099F87E055B9EC8E3176CEEE5DC01878E1DA34B94FA90CAF495AFA1C8DA34AA5E46E7E3BB58C18610FBB3495B6D2376BAD9C932467215400CC1C9F9F2ED1726CBDFCD7FAA8D8A4F3B27846126BDBE04C98EF5FEF0B78AD16B600C389BA59C0E4710803864C5E003B56BC176CB812C8447CE1B598F7EC2960040D93676089979A0CCF667273D3C302283B9EB8F06D54796DFCA831D6DB0EED4DE7D2D2B7AD1E37AB99277C0B9BAE3D17ABC76DA55BC09DAD0DAF556F934D4AB054259242FC740BBFD35973A3329644F52484A2307EA5E2B7EFD83CB6CA054B3B7DA726F714A42527AF5A888C96D967E3E84817872597624CBEF8C09DA18E793FE4AEA621B9C215F6A3E9FEBAA29FA953DF31D74DCB3F4877DBB4EB3ED673A4EEECB407B6B0F1B6048194466EECBD16151FF7370933BBB20A24E2CE039F658BEF6957F931BECEA70DE8FDE274E7CAA5D6F3977FF2C42746D6DB78A03FDA365A37E9FF741767D46726AD910F04C855CAA52870F4A88F396BD71C8B50274F3672A7AA92D233E21BB8B6F3904B449E35A3E54BC7FA018331987E6B5513D6DF58F6A61CEF8310640670AB63EFD94513371204733AA7A2657403034CE3382FEB0FBDD320866708614C5A8E99BE103F7C19006A70844EF90D8949CF2A6EEA1A9F91F2252500DB42581E813164F7F50D5FE62626E4508ACA88E3E65EFE647A1669636315F7F58DCDAABA06E6075D623203A25AFAA6360F2CB26E8802ADACAD133288E5E54FF6C94B32AB20FAE6361EF7123EE7E7153EF047703A4A089C1BAFA46A516D433C7B97CB183A89384CB37E21915ED831F5645F76B18E1DD6EC46756768E7C5C17533A6EE9E47D2BB5F8F1C0CC2A5051CBC2891C9956D63E3CC7071F4663DD82EFE435BE64F340CABA761783A8F94D03B31B60150CE1CA2DFAC32ED622E0A08E9D5B584A69E7F83751A82ED623825EC99C5A139551D2D0B7C0BB9082A26959A50D4F5FBDE3F284C18A6A7AE67817EF90B8D48A8A87DB2AB73DDA56F52FAAFFA9E69F6A7F57F79BFADF34FCAAF1174DBF68DEE9F14E2D3BB4EED0B6AD7D5BC7B627FFA2730793FFFB9FFD0D7CFB8B39');
CREATE TABLE imports (
    id INTEGER PRIMARY KEY,
    file TEXT NOT NULL,
    -- Bytes and time of the last change (ns): a changed file is not resumed.
    size INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    spectra TEXT,
    batch TEXT NOT NULL,
    skip_bad INTEGER NOT NULL,
    same_spectrum TEXT NOT NULL CHECK (same_spectrum IN ('import', 'leave out', 'ask')),
    uploaded INTEGER NOT NULL,
    person TEXT REFERENCES people (initials),
    -- The last item before the import: only items up to it are "already here".
    newest INTEGER NOT NULL,
    step TEXT NOT NULL CHECK (step IN ('check', 'write')),
    state TEXT NOT NULL CHECK (state IN ('running', 'cancelled', 'failed', 'refused', 'done')),
    -- Of the present step: bytes and lines read, and what was found in them.
    "offset" INTEGER NOT NULL,
    line INTEGER NOT NULL,
    counts TEXT NOT NULL CHECK (json_valid(counts)),
    message TEXT NOT NULL,
    seconds REAL NOT NULL,
    started_at TEXT NOT NULL,
    changed_at TEXT NOT NULL
);
INSERT INTO "imports" VALUES(1,'/nowhere/rows.jsonl',1000,1000000000000000000,NULL,'',0,'import',0,'CO',9,'check','running',0,0,'null','',0.0,'2026-11-22T13:43:00.000+00:00','2026-11-22T13:43:00.000+00:00');
CREATE TABLE inspections (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES items (id),
    person TEXT NOT NULL REFERENCES people (initials),
    -- Redshift in the medium of the spectrum; NULL: none given.
    z REAL CHECK (z > -1),
    quality INTEGER CHECK (quality BETWEEN 0 AND 4),
    issues TEXT NOT NULL,
    spectype TEXT NOT NULL CHECK (spectype IN ('', 'STAR', 'GALAXY', 'QSO')),
    comment TEXT NOT NULL,
    at TEXT NOT NULL
);
INSERT INTO "inspections" VALUES(1,'405ad8d61c29422587dca0add229c977',8,'RE',0.0012,3,'R','','Blue shift.','2026-11-22T13:03:00.000+00:00');
CREATE TABLE items (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    spectrum TEXT REFERENCES spectra (sha256),
    name TEXT NOT NULL,
    task TEXT NOT NULL,
    drafter_kind TEXT NOT NULL,
    drafter_name TEXT NOT NULL,
    label TEXT CHECK (label IN ('YES', 'NO')),
    simulated INTEGER NOT NULL,
    batch TEXT NOT NULL,
    survey TEXT NOT NULL,
    snr REAL,
    added_at TEXT NOT NULL
);
INSERT INTO "items" VALUES(1,'sha256:a3855ab414e444ebb87246063960e13dcf44304785e5eacea1a9b58574fce2c0','034c8b4d0be5ceca29dcbc44dac72ceb76ff94ae773d9bd19e8d137f065b3a7b','spec-0000.fits','cv','model','gpt-5','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(2,'sha256:1f77604def244c35f37d2fdf3a7ce9f73a731b763be3110b1ac95ddb4741d6e6','034c8b4d0be5ceca29dcbc44dac72ceb76ff94ae773d9bd19e8d137f065b3a7b','spec-0000.fits','cv','model','Spec-o3-7B','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(3,'sha256:669c493c265dee0442689d4dd0c9f8147da1ebb108ac8299dabeff7a1ebb6933','65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76','spec-0001.fits','cv','model','gpt-5','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(4,'sha256:df7f2075f84190c44abe57353a301c1668768fc78d3096dabf6836bfae310f03','65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76','spec-0001.fits','cv','model','Spec-o3-7B','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(5,'sha256:f4a189e4892a3db78f98cd299590b039b9a5fa499c47f6dc430a3fddbfb69c0d','179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038','spec-0002.fits','cv','model','gpt-5','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(6,'sha256:ed75bb616aaa004bf19dcb3b9892b1ece7bd2423bcb03b625871680653fbdfb7','179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038','spec-0002.fits','cv','model','Spec-o3-7B','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(7,'sha256:29f6ad24dd714115b56e6ae86278f3834f769c3a223e2dbbb07515ef28ad6787','0fbec2bc4f2c2577d778cda4012259c900b4eded069acb61df1e54b1aa9dba29','spec-0003.fits','cv','model','gpt-5','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(8,'sha256:ac35cfb1fc151079d0588b55846537bd3f1ad5ce2e35905c508dc76ec8b29b0e','0fbec2bc4f2c2577d778cda4012259c900b4eded069acb61df1e54b1aa9dba29','spec-0003.fits','cv','model','Spec-o3-7B','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(9,'sha256:e871b283c9ba77c7417d3a47a657b310ea2be90a6a79a012912bef3d6f798db0',NULL,'gone.fits','cv','baseline','rule 1',NULL,0,'','',NULL,'2026-11-21T12:00:00.000+00:00');
PRAGMA writable_schema=ON;
INSERT INTO sqlite_master(type,name,tbl_name,rootpage,sql)VALUES('table','items_text','items_text',0,'CREATE VIRTUAL TABLE items_text USING fts5 (text, content='''', tokenize=''trigram'')');
CREATE TABLE 'items_text_config'(k PRIMARY KEY, v) WITHOUT ROWID;
INSERT INTO "items_text_config" VALUES('version',4);
CREATE TABLE 'items_text_data'(id INTEGER PRIMARY KEY, block BLOB);
INSERT INTO "items_text_data" VALUES(1,X'09812F');
INSERT INTO "items_text_data" VALUES(10,X'000000000109090009010101020101030101040101050101060101070101080101090101');
INSERT INTO "items_text_data" VALUES(137438953473,X'000000A004300A313401021001032D303001020601032E666901020B0103302E6601020A0202302E0102090301300104070301033132330102140202343801021101033233340102150103333435010216010334383101021201033831320102130103632D30010205010365632D010204010366697401020C010369747301020D01037065630102030103730A3101020F02027065010202010374730A01020E0408080808070708070808080808080808080807');
INSERT INTO "items_text_data" VALUES(274877906945,X'000000A004300A313402021001032D303002020601032E666902020B0103302E6602020A0202302E0202090301300204070301033132330202140202343802021101033233340202150103333435020216010334383102021201033831320202130103632D30020205010365632D020204010366697402020C010369747302020D01037065630202030103730A3102020F02027065020202010374730A02020E0408080808070708070808080808080808080807');
INSERT INTO "items_text_data" VALUES(412316860417,X'000000A604300A313403021001032D303003020601032E666903020B01033030300302070301310302080202312E0302090103312E6603020A020232330302140202343803021101033233340302150103333435030216010334383103021201033831320302130103632D30030205010365632D030204010366697403020C010369747303020D01037065630302030103730A3103020F02027065030202010374730A03020E040808080806070807070808080808080808080807');
INSERT INTO "items_text_data" VALUES(549755813889,X'000000A604300A313404021001032D303004020601032E666904020B01033030300402070301310402080202312E0402090103312E6604020A020232330402140202343804021101033233340402150103333435040216010334383104021201033831320402130103632D30040205010365632D040204010366697404020C010369747304020D01037065630402030103730A3104020F02027065040202010374730A04020E040808080806070807070808080808080808080807');
INSERT INTO "items_text_data" VALUES(687194767361,X'000000A604300A313405021001032D303005020601032E666905020B01033030300502070301320502080202322E0502090103313233050214020234380502110103322E6605020A020233340502150103333435050216010334383105021201033831320502130103632D30050205010365632D050204010366697405020C010369747305020D01037065630502030103730A3105020F02027065050202010374730A05020E040808080806070807080708080808080808080807');
INSERT INTO "items_text_data" VALUES(824633720833,X'000000A604300A313406021001032D303006020601032E666906020B01033030300602070301320602080202322E0602090103313233060214020234380602110103322E6606020A020233340602150103333435060216010334383106021201033831320602130103632D30060205010365632D060204010366697406020C010369747306020D01037065630602030103730A3106020F02027065060202010374730A06020E040808080806070807080708080808080808080807');
INSERT INTO "items_text_data" VALUES(962072674305,X'000000A604300A313407021001032D303007020601032E666907020B01033030300702070301330702080202332E07020901033132330702140202343807021101033233340702150103332E6607020A02023435070216010334383107021201033831320702130103632D30070205010365632D070204010366697407020C010369747307020D01037065630702030103730A3107020F02027065070202010374730A07020E040808080806070807080807080808080808080807');
INSERT INTO "items_text_data" VALUES(1099511627777,X'000000A604300A313408021001032D303008020601032E666908020B01033030300802070301330802080202332E08020901033132330802140202343808021101033233340802150103332E6608020A02023435080216010334383108021201033831320802130103632D30080205010365632D080204010366697408020C010369747308020D01037065630802030103730A3108020F02027065080202010374730A08020E040808080806070807080807080808080808080807');
INSERT INTO "items_text_data" VALUES(1236950581249,X'0000003C04302E66690902060103652E6609020501036669740902070103676F6E090202010369747309020801036E652E09020401036F6E6509020304080808080808');
CREATE TABLE 'items_text_docsize'(id INTEGER PRIMARY KEY, sz BLOB);
INSERT INTO "items_text_docsize" VALUES(1,X'15');
INSERT INTO "items_text_docsize" VALUES(2,X'15');
INSERT INTO "items_text_docsize" VALUES(3,X'15');
INSERT INTO "items_text_docsize" VALUES(4,X'15');
INSERT INTO "items_text_docsize" VALUES(5,X'15');
INSERT INTO "items_text_docsize" VALUES(6,X'15');
INSERT INTO "items_text_docsize" VALUES(7,X'15');
INSERT INTO "items_text_docsize" VALUES(8,X'15');
INSERT INTO "items_text_docsize" VALUES(9,X'07');
CREATE TABLE 'items_text_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;
INSERT INTO "items_text_idx" VALUES(1,X'',2);
INSERT INTO "items_text_idx" VALUES(2,X'',2);
INSERT INTO "items_text_idx" VALUES(3,X'',2);
INSERT INTO "items_text_idx" VALUES(4,X'',2);
INSERT INTO "items_text_idx" VALUES(5,X'',2);
INSERT INTO "items_text_idx" VALUES(6,X'',2);
INSERT INTO "items_text_idx" VALUES(7,X'',2);
INSERT INTO "items_text_idx" VALUES(8,X'',2);
INSERT INTO "items_text_idx" VALUES(9,X'',2);
CREATE TABLE leases (
    id INTEGER PRIMARY KEY,
    token TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES items (id),
    person TEXT NOT NULL REFERENCES people (initials),
    round TEXT NOT NULL,
    taken_at TEXT NOT NULL,
    renewed_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    ended TEXT CHECK (ended IN ('decided', 'released', 'round over', 'expired', 'deactivated'))
);
INSERT INTO "leases" VALUES(1,'dwXCko82QnhB3y_2S01vm7gXt2A2pgc9rN2F0GxTEt4',1,'RE','screening','2026-11-22T12:00:00.000+00:00','2026-11-22T12:00:00.000+00:00','2026-11-22T12:15:00.000+00:00','decided');
INSERT INTO "leases" VALUES(2,'9HYs-ratky6f2UDUE5BUMjvMT--yBpN9DHaYIckIP0k',1,'RE','revision','2026-11-22T12:00:00.000+00:00','2026-11-22T12:00:00.000+00:00','2026-11-22T12:15:00.000+00:00','decided');
INSERT INTO "leases" VALUES(3,'VhHeEwRg7YzcrE6t17D1ZmLtkmXbSWA0PIFHL7EMehU',1,'AU','audit','2026-11-22T12:00:00.000+00:00','2026-11-22T12:00:00.000+00:00','2026-11-22T12:15:00.000+00:00','decided');
INSERT INTO "leases" VALUES(4,'WrEVY5CXbGvB60FcxGKql60eMhweD3J0FSFLB7I4F2o',1,'AX','audit','2026-11-22T12:00:00.000+00:00','2026-11-22T12:00:00.000+00:00','2026-11-22T12:15:00.000+00:00','decided');
INSERT INTO "leases" VALUES(5,'oLQJYt1RUW1aSWwmyHmkLs_I_-R_bjjRD507MrMbRlc',1,'VO','vote','2026-11-22T12:00:00.000+00:00','2026-11-22T12:00:00.000+00:00','2026-11-22T12:15:00.000+00:00','decided');
INSERT INTO "leases" VALUES(6,'mZQez_mYsHdHALf_8Uvj-Us0YTcSPRJExJtuR1jXun0',1,'VO','vote','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(7,'RRP1JC0_jGz6pvsDT48EYzy6aaDN0E6saMIxFOPhgIY',1,'ZO','vote','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(8,'zcGmis5o9sQM15KclG2XCX5w5vFhdaFLattuBH5voTY',2,'RE','screening','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(9,'8BGxkmo0X0YyMPfIO4UdT9Y9TYIhjftFpsoyWVJY8Ec',2,'RE','revision','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(10,'oGOpzb37eT0nX0w9VTaS_USi_DuGlG2W_2oTfINmWZ0',2,'AU','audit','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(11,'TWfWln_CaWf4KVO3pp-pFViF7b1Jn6NcmfvP6JQoLBw',2,'RE','revision','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','expired');
INSERT INTO "leases" VALUES(12,'wk6o7mZFsURqzBnabxdjPdnzR0onV8raJASysxllK3M',7,'RE','screening','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(13,'8eNfj0D-oY0l9sLChM4z83u0IkDxfASInyW5g1-b7F0',7,'RE','revision','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(14,'T13rAF-1sDU6K9eTKVMo_HSyG3I6qjldqnhRVxe6dNo',7,'AU','audit','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(15,'bvs1T_JjH3R8Fn7YTH1AEnVDTORbdLLgcUxefKzYQjI',9,'RE','screening','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(16,'7e2EwEuNkCb659HeH-_21Rzs6Rntv0huVSsp4e0ZGmM',3,'RE','screening','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','released');
INSERT INTO "leases" VALUES(17,'aBmIYxBgfOJw3-DWgHqyGD1PLCUUgeL_ooCDm5Xp6XI',7,'AX','audit','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','expired');
INSERT INTO "leases" VALUES(18,'TSjMAIw5qiC84X9cee1qUhYOg29eO01e-eHkiPKg6hA',4,'VO','screening','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','expired');
INSERT INTO "leases" VALUES(19,'6CT2mANguBPKbZNxsoqTN1Khi7gjxa-pkSG76DKymeg',4,'RE','screening','2026-11-22T13:03:00.000+00:00','2026-11-22T13:03:00.000+00:00','2026-11-22T13:18:00.000+00:00',NULL);
CREATE TABLE log (
    number INTEGER PRIMARY KEY CHECK (number > 0),
    at TEXT NOT NULL,
    -- NULL: whoever holds the file itself, or somebody who is not signed in.
    person TEXT REFERENCES people (initials),
    what TEXT NOT NULL,
    subject TEXT NOT NULL,
    details TEXT NOT NULL CHECK (json_valid(details)),
    previous TEXT NOT NULL,
    hash TEXT NOT NULL
);
INSERT INTO "log" VALUES(1,'2026-11-21T12:00:00.000+00:00',NULL,'log begun','settings','{"count":1,"facts":{"settings":[1,1,1,"a05cabae2b774c420bdbd654da2e016945bfc6d304070f7fa5f5a7eb022ca8de"]}}','0000000000000000000000000000000000000000000000000000000000000000','961959c9c5e0ca2fd5eaf6a7118850f08106935d8b0bc7174532fd9c528f7284');
INSERT INTO "log" VALUES(2,'2026-11-21T12:00:00.000+00:00',NULL,'person added','RE','{"people":{"RE":"4ffc31bd6030bebde8466ad26b5ecbb6adab970dc19f71b2ab24a9e7c46c6424"},"roles":["reviewer"]}','961959c9c5e0ca2fd5eaf6a7118850f08106935d8b0bc7174532fd9c528f7284','8c4d5c5175ad55fd36dc16a6505cf19fb964b6c3714cf1a77673ec3bc16defc7');
INSERT INTO "log" VALUES(3,'2026-11-21T12:00:00.000+00:00',NULL,'person added','AU','{"people":{"AU":"ba41626517611142e220083da52d29b95b8f219fd29923733092bbd395ba1442"},"roles":["auditor"]}','8c4d5c5175ad55fd36dc16a6505cf19fb964b6c3714cf1a77673ec3bc16defc7','934cc382da3d4c3448ad8c0dd30c6faf3b9e9fb6ca694d61f4ba2f3e566687a7');
INSERT INTO "log" VALUES(4,'2026-11-21T12:00:00.000+00:00',NULL,'person added','AX','{"people":{"AX":"94324b0b0cedfdc3eadb0c9414f9c13249be615ad7e39e3fae995d07d9fb9bf6"},"roles":["auditor"]}','934cc382da3d4c3448ad8c0dd30c6faf3b9e9fb6ca694d61f4ba2f3e566687a7','efcfd57082289602263cd436f61bc0a089b7a0b95616414e9ad8370ee3189262');
INSERT INTO "log" VALUES(5,'2026-11-21T12:00:00.000+00:00',NULL,'person added','VO','{"people":{"VO":"4a4699490db6743b872754a1253a2a58ce22b0339bb7f3deb3bf9967ba154c40"},"roles":["reviewer"]}','efcfd57082289602263cd436f61bc0a089b7a0b95616414e9ad8370ee3189262','42f76b39d16ae145aa51e36990f5694a6074974c7ce7802c026941d0b3c28c8b');
INSERT INTO "log" VALUES(6,'2026-11-21T12:00:00.000+00:00',NULL,'person added','CO','{"people":{"CO":"dd864c1b73198be0ff4b303ddc7870025b6312f0e25267c725c6a95a70b6c979"},"roles":["coordinator"]}','42f76b39d16ae145aa51e36990f5694a6074974c7ce7802c026941d0b3c28c8b','8118dab1efba77b4ba2c399d330f7f3c8b2c53403a3ff83ffe12d94f0a21c862');
INSERT INTO "log" VALUES(7,'2026-11-21T12:00:00.000+00:00',NULL,'person added','JU','{"people":{"JU":"a0479ed58460e5069fe62c36dc17a3d60c4cf0b0c98415d591ff3867e6c81b84"},"roles":["auditor"]}','8118dab1efba77b4ba2c399d330f7f3c8b2c53403a3ff83ffe12d94f0a21c862','5c5f18a0d8ff90e839b5143ace53c4f079e2a048c6bd6230dd35ff2b4e1a02af');
INSERT INTO "log" VALUES(8,'2026-11-21T12:00:00.000+00:00',NULL,'person added','ZO','{"people":{"ZO":"99f908d115dd49a51c87d8180939eafe6a44a7f5a7542351fd4250aea6b556ef"},"roles":["auditor","reviewer"]}','5c5f18a0d8ff90e839b5143ace53c4f079e2a048c6bd6230dd35ff2b4e1a02af','c1d8a3270a3c774cc6be8e81fbc400fb272f724601c2f799a109ccaa14d7f01f');
INSERT INTO "log" VALUES(9,'2026-11-21T12:00:00.000+00:00','CO','rules set','rules','{"before":{"approve_at":2,"auditors":2,"reject_at":2,"solo":false,"votes":2},"facts":{"settings":[2,2,1,"6a1085363c13c03b0bbad93ffed0cc6fc69d7ebac2571fe1df654470e4d00161"]},"rules":{"approve_at":2,"auditors":2,"reject_at":2,"solo":false,"votes":3}}','c1d8a3270a3c774cc6be8e81fbc400fb272f724601c2f799a109ccaa14d7f01f','26015bfd01669b33b88308dafce55790155648f3a688ffa993f58679f365e837');
INSERT INTO "log" VALUES(10,'2026-11-21T12:00:00.000+00:00','CO','setting set','campaign','{"facts":{"settings":[3,3,1,"7026fece3c7ac51c65b625007ad5f8e0b5878fb46f9323153cf39438e1734d44"]}}','26015bfd01669b33b88308dafce55790155648f3a688ffa993f58679f365e837','372b0b4072b8b1df03d420c9604295b31b7756492a2e795c2915940fabac49b1');
INSERT INTO "log" VALUES(11,'2026-11-21T12:00:00.000+00:00',NULL,'items added','items 1 to 9','{"count":9,"facts":{"items":[1,9,9,"9ce4e91978a89fe5853fc246b340d09d2d9931be2e3ee777af22c9a5282e6833"],"versions":[1,9,9,"9e605eaa17f935b1b9391740af603a762ec3f8f06fea4f443db2a08ddc5480bd"]}}','372b0b4072b8b1df03d420c9604295b31b7756492a2e795c2915940fabac49b1','10009132ac94d40e2babc6356498ab351971fc67f3546b69c7a9112a4832cc7b');
INSERT INTO "log" VALUES(12,'2026-11-22T12:00:00.000+00:00','RE','decided','item 1','{"facts":{"decisions":[1,1,1,"b7143c76a1e1e4f36329e274110ff2ebd2497a903b341342c8f393beb3e85ce7"]},"round":"screening","verb":"keep","version":1}','10009132ac94d40e2babc6356498ab351971fc67f3546b69c7a9112a4832cc7b','0ca1deea31ff120a2043091f3395b8073d4b36eccfa64f80f1b8f705a73aaa56');
INSERT INTO "log" VALUES(13,'2026-11-22T12:00:00.000+00:00','RE','decided','item 1','{"facts":{"decisions":[2,2,1,"27aefce3c45e383dbebc22ac1515b58f03f2b2acbda164b2f43d0bc48712924d"]},"round":"revision","verb":"submit","version":1}','0ca1deea31ff120a2043091f3395b8073d4b36eccfa64f80f1b8f705a73aaa56','34fe07c65c1d4cbb2a4ad63a8c40e846f8676671ece3c24c77e78b9c263801c8');
INSERT INTO "log" VALUES(14,'2026-11-22T12:00:00.000+00:00','AU','decided','item 1','{"facts":{"decisions":[3,3,1,"c2bd4c5122b7eb8033f01b7a834c412a4cd74169d5c3dc077d41feccb4348b50"]},"round":"audit","verb":"pass","version":1}','34fe07c65c1d4cbb2a4ad63a8c40e846f8676671ece3c24c77e78b9c263801c8','da608de2cf47a575b43708fa97302678d236d7d659f0e774c98d6484e9687ad2');
INSERT INTO "log" VALUES(15,'2026-11-22T12:00:00.000+00:00','AX','decided','item 1','{"facts":{"decisions":[4,4,1,"d6d673d13bfc6ef5f8b1d38b5e53e7625601717dbad2451d6126ff21eb8dcec5"]},"round":"audit","verb":"pass","version":1}','da608de2cf47a575b43708fa97302678d236d7d659f0e774c98d6484e9687ad2','c8cbe70994e2051fb9496c3906b55c60bab5b6638d68ba58bb21f64c3a59b967');
INSERT INTO "log" VALUES(16,'2026-11-22T12:00:00.000+00:00','VO','marked','item 1','{"facts":{"marks":[1,1,1,"73d4a1c713f070216ea18c12eaf3aba8e5f97e5ac7a7121e21b95f9fc4dd103e"]},"mark":"hallucinated feature","step":"s3","version":1}','c8cbe70994e2051fb9496c3906b55c60bab5b6638d68ba58bb21f64c3a59b967','a1177c07cb5a033cb15a35c971a3127e5ec1d6847f93bbf24f0682fc1b37e858');
INSERT INTO "log" VALUES(17,'2026-11-22T12:00:00.000+00:00','VO','verdict committed','item 1','{"facts":{"verdicts":[1,1,1,"5315470dab9b5a6f8b1b4dbf2ea6f2aa2859007a36f97a29eab1e7a76a267e6c"]},"verdict":"cannot tell","version":1}','a1177c07cb5a033cb15a35c971a3127e5ec1d6847f93bbf24f0682fc1b37e858','485ea858e8759502f2ef4d136f191ced2723e2f4f063c000ba444f891ebc19d2');
INSERT INTO "log" VALUES(18,'2026-11-22T12:00:00.000+00:00','VO','decided','item 1','{"facts":{"decisions":[5,5,1,"5a848636d17664a6c9299308311cd447663e17727291235406517cd474a8d192"]},"round":"vote","verb":"approve","version":1}','485ea858e8759502f2ef4d136f191ced2723e2f4f063c000ba444f891ebc19d2','3bd238e8e0079e74a1087c5ad2e7d1258cc8805903596157675ccd3a43bf991b');
INSERT INTO "log" VALUES(19,'2026-11-22T12:00:00.000+00:00','VO','undone','item 1','{"facts":{"decisions":[6,6,1,"0787376a6ceb27a2699b9328d0919599218ba6b3f0dca005f6abc484fe504af7"]},"round":"vote","verb":"undo","version":1,"withdraws":5}','3bd238e8e0079e74a1087c5ad2e7d1258cc8805903596157675ccd3a43bf991b','aee82a5611f25ba850b90d2a626a333a02f5f58a6a99dffa41b4d7c33d624787');
INSERT INTO "log" VALUES(20,'2026-11-22T12:03:00.000+00:00','VO','decided','item 1','{"facts":{"decisions":[7,7,1,"152cfd392535f5a72bd87cfeddc3bf36cfacfaf043153b2487f16f633e0bfcf1"],"work_times":[1,1,1,"599e532d4b5fbf83482bf4db8963af89d5828c26742c8779ecf76d7612c83945"]},"round":"vote","verb":"approve","version":1}','aee82a5611f25ba850b90d2a626a333a02f5f58a6a99dffa41b4d7c33d624787','34b526dede170def731afc765d1cc87f17b8b561c9c090de8cce518c203648e4');
INSERT INTO "log" VALUES(21,'2026-11-22T12:03:00.000+00:00','ZO','decided','item 1','{"facts":{"decisions":[8,8,1,"237a6fe2aea9d0e556000f92a5d7cc576a92a522940e321a8ed90652e94efdf2"]},"round":"vote","verb":"approve","version":1}','34b526dede170def731afc765d1cc87f17b8b561c9c090de8cce518c203648e4','7f2b4d320cb3b09bf2700ed59078b77d1bb293f6543fbe9c285508a5cb2e5b7e');
INSERT INTO "log" VALUES(22,'2026-11-22T12:03:00.000+00:00','CO','exported','first','{"facts":{"exports":[1,1,1,"aa384363c82d296e8c7af99c87200923b473a4ea4d5ebe282b4b1d50979f5a7f"]}}','7f2b4d320cb3b09bf2700ed59078b77d1bb293f6543fbe9c285508a5cb2e5b7e','3e087256299d4700fdb75a2f4ce3b78ec58707ba5aac431bd96a671b9e63c1fe');
INSERT INTO "log" VALUES(23,'2026-11-22T12:03:00.000+00:00','RE','decided','item 2','{"facts":{"decisions":[9,9,1,"ce189e65ed7ea982d4e62352b55c74a9766789df93e815e2a376e241cf5ab934"]},"round":"screening","verb":"keep","version":2}','3e087256299d4700fdb75a2f4ce3b78ec58707ba5aac431bd96a671b9e63c1fe','05a2ccced783cd24874d5501ae88007e8d8b40537c14a7f58403c779b5f52be7');
INSERT INTO "log" VALUES(24,'2026-11-22T12:03:00.000+00:00','RE','decided','item 2','{"facts":{"decisions":[10,10,1,"ccfe33971564959afd9f610a7e9dbcaccc740b19206b311cd99f9da51a887a3c"]},"round":"revision","verb":"submit","version":2}','05a2ccced783cd24874d5501ae88007e8d8b40537c14a7f58403c779b5f52be7','92979833e43b5db682abc5598ad2521e37822959d09211115bdb112ee8ecc137');
INSERT INTO "log" VALUES(25,'2026-11-22T12:03:00.000+00:00','AU','decided','item 2','{"facts":{"decisions":[11,11,1,"8acf091f9452b23a43c83c49970e638fb81548d9a8b29143aa24e77ce58f0ea0"]},"round":"audit","verb":"return","version":2}','92979833e43b5db682abc5598ad2521e37822959d09211115bdb112ee8ecc137','b77b85d570487f562059fac234eecc32e3d7620b72b1e94ddde55db7fa0c6d09');
INSERT INTO "log" VALUES(26,'2026-11-22T12:03:00.000+00:00','RE','version saved','item 2','{"facts":{"versions":[10,10,1,"0dbb413502fa4fe0e44087199e40843023876316211dcba14bb401f93de917f3"]},"number":2}','b77b85d570487f562059fac234eecc32e3d7620b72b1e94ddde55db7fa0c6d09','2f562a50c7dac9d8add8080d197c0a34d65d651d4385f1e3f5b8e4636eee821e');
INSERT INTO "log" VALUES(27,'2026-11-22T12:03:00.000+00:00','RE','decided','item 7','{"facts":{"decisions":[12,12,1,"26bf1d5b04e5f5bdf475ceffde65b14ea2e43f2fec56bdadfda4b36242f3c0c3"]},"round":"screening","verb":"keep","version":7}','2f562a50c7dac9d8add8080d197c0a34d65d651d4385f1e3f5b8e4636eee821e','0431be80a2f8d791258ebf1aad32ba8b8677db3d76b1b87641f051c436604a48');
INSERT INTO "log" VALUES(28,'2026-11-22T12:03:00.000+00:00','RE','decided','item 7','{"facts":{"decisions":[13,13,1,"7adf22da055edf1d0c0d0e42e7d2efe747faba7c120e4e4ec7703541f0d5622b"]},"round":"revision","verb":"submit","version":7}','0431be80a2f8d791258ebf1aad32ba8b8677db3d76b1b87641f051c436604a48','6e13353d35327c5b6268368136e94ca5b1df641ffd2f059e242eb7bb65c0966d');
INSERT INTO "log" VALUES(29,'2026-11-22T12:03:00.000+00:00','AU','decided','item 7','{"facts":{"decisions":[14,14,1,"af4eb09690213cca0a4ef9bd0c82453b7e92807cc3e6bcd7158fce7ce4dfadb8"]},"round":"audit","verb":"pass","version":7}','6e13353d35327c5b6268368136e94ca5b1df641ffd2f059e242eb7bb65c0966d','70792f8ca2a0dd202d4c9a09be04c43e9fec41991cfe4ad417b8bbcc8ec3ace2');
INSERT INTO "log" VALUES(30,'2026-11-22T12:03:00.000+00:00','RE','decided','item 9','{"facts":{"decisions":[15,15,1,"9c80a5f078f7300c0fe58c5f0b90cdb79b193fe9770f23a2ba1546a9121e4be2"]},"reason":"bad_data","round":"screening","verb":"reject","version":9}','70792f8ca2a0dd202d4c9a09be04c43e9fec41991cfe4ad417b8bbcc8ec3ace2','47e10770b6f7d955c7a029d324c972decd500a179bf6a83037f17716d7b4708e');
INSERT INTO "log" VALUES(31,'2026-11-22T13:03:00.000+00:00','ZO','signed in','ZO','{"origin":"10.0.0.1"}','47e10770b6f7d955c7a029d324c972decd500a179bf6a83037f17716d7b4708e','51a8442b58b92fc36f063372ccec11ecbba84c153c94bb7de0750003bbbfe1d6');
INSERT INTO "log" VALUES(32,'2026-11-22T13:03:00.000+00:00','ZO','signed out','ZO','{}','51a8442b58b92fc36f063372ccec11ecbba84c153c94bb7de0750003bbbfe1d6','c5b56449f2bc69547cc1c3a2efd01a996e99dbac8723472a6dfd8ccb5ffadef3');
INSERT INTO "log" VALUES(33,'2026-11-22T13:03:00.000+00:00','ZO','signed in','ZO','{"origin":"10.0.0.2"}','c5b56449f2bc69547cc1c3a2efd01a996e99dbac8723472a6dfd8ccb5ffadef3','cd0958ebadd7e7a8fcde7f7a531bb934b36ce6ee6ef4a2f240db062464b81f2b');
INSERT INTO "log" VALUES(34,'2026-11-22T13:03:00.000+00:00',NULL,'sign-in refused','ZO','{"origin":"10.0.0.3"}','cd0958ebadd7e7a8fcde7f7a531bb934b36ce6ee6ef4a2f240db062464b81f2b','295571368d193bda9d49cf20581190530ab6e7c801b9b8f8f29bec9b24481ac2');
INSERT INTO "log" VALUES(35,'2026-11-22T13:03:00.000+00:00','RE','inspected','item 8','{"facts":{"inspections":[1,1,1,"a3657403419ea9892224644b691fd01c200c7efaa7922506eccb28a932b39150"]},"number":1}','295571368d193bda9d49cf20581190530ab6e7c801b9b8f8f29bec9b24481ac2','3b0dbd18a22e2d8b27ccac554e74e9f0cb34bf183fab3f729d12d859467168c8');
INSERT INTO "log" VALUES(36,'2026-11-22T13:03:00.000+00:00','CO','blind session drawn','session 1','{"assignments":12,"facts":{"blind_assignments":[1,1,12,"be3050b94df1af89a48683c6c96577a07ac3358eab843f468db18139ee09a58f"],"blind_sessions":[1,1,1,"90791529b87388053b498074291c23f852bb3a00b3e60e75a4085798957ff84a"]},"scorers":["RE","AU"]}','3b0dbd18a22e2d8b27ccac554e74e9f0cb34bf183fab3f729d12d859467168c8','12390b2a0968a6bd47a2e8fb6277513df5e97bb4ac66ed0806b06e10ed6803d9');
INSERT INTO "log" VALUES(37,'2026-11-22T13:03:00.000+00:00','CO','blind session drawn','session 2','{"assignments":12,"facts":{"blind_assignments":[2,2,12,"00c8ccd4b86f723f558b7bfabfa351a8ce086ccc1cb63da8920078d55f373aa9"],"blind_sessions":[2,2,1,"091fa1f28c47d35c03791c38d020a53ddfe3e9ed41553dd5b2348d8f94a533d7"]},"scorers":["RE","AU"]}','12390b2a0968a6bd47a2e8fb6277513df5e97bb4ac66ed0806b06e10ed6803d9','417194fbe90261e841356187496170a8ad2ae66e5cd15e0b64b16b971293646e');
INSERT INTO "log" VALUES(38,'2026-11-22T13:03:00.000+00:00','CO','blind session drawn','session 3','{"assignments":12,"facts":{"blind_assignments":[3,3,12,"76598705166d1dfe93e1117c95fea3ea67237727871dc85a37a7aaa8f791b64c"],"blind_sessions":[3,3,1,"507d2be12317b9e38a8fd3808fd1593db36c6380288917b38f73a1c25577ba11"]},"scorers":["RE","AU"]}','417194fbe90261e841356187496170a8ad2ae66e5cd15e0b64b16b971293646e','ce0e08dc3e730e2e98ff84ac9058f3545ad299efa0b7c8e15d891285d35a1495');
INSERT INTO "log" VALUES(39,'2026-11-22T13:03:00.000+00:00','CO','blind session opened','session 1','{"analysis_plan_sha256":"3657bdf70878d5189211bd976aaa6dc94a3a5dfdb354813fe2488d46661ece23","facts":{"blind_states":[1,1,1,"165de6b6a021cb3a35772c076fec740855b12f9f10fe92402f8ec7535a8abb27"]}}','ce0e08dc3e730e2e98ff84ac9058f3545ad299efa0b7c8e15d891285d35a1495','b01a631862d1b70f92f9854b67db772408a109f3256c2642301a9b702afe45f4');
INSERT INTO "log" VALUES(40,'2026-11-22T13:03:00.000+00:00','RE','scored blind','session 1','{"facts":{"blind_scores":[1,1,1,"550963487b31ebc6696692b935518a6f88378c1a13a389ec1374b4ef681f7b99"]},"place":1}','b01a631862d1b70f92f9854b67db772408a109f3256c2642301a9b702afe45f4','5a644e0b24f5190cbaebc0b302ed04600e1400f0ef7cac647b9036fe44495552');
INSERT INTO "log" VALUES(41,'2026-11-22T13:03:00.000+00:00','RE','scored blind','session 1','{"facts":{"blind_scores":[2,2,1,"e807148b13cd64713c2ba0a9262ea02e7d3a349db373236020e799661d450c5d"]},"place":2}','5a644e0b24f5190cbaebc0b302ed04600e1400f0ef7cac647b9036fe44495552','3dd66b91fc9ff0caf342fb283baf0551c243f4b91788dd9d6bfc19d2f73937e3');
INSERT INTO "log" VALUES(42,'2026-11-22T13:03:00.000+00:00','RE','scored blind','session 1','{"facts":{"blind_scores":[3,3,1,"461a70af815f0c6a1cac411470331c4e2b15790865d6437baf4598f97072e3b2"]},"place":3}','3dd66b91fc9ff0caf342fb283baf0551c243f4b91788dd9d6bfc19d2f73937e3','626e7d3d742fc1c14e6cc10dfb11e753cfb0079119f3ad57273ad4cc3cbddb58');
INSERT INTO "log" VALUES(43,'2026-11-22T13:03:00.000+00:00','RE','scored blind','session 1','{"facts":{"blind_scores":[4,4,1,"ad3a5759c740ee5d05aba044d6e07381f7e88065c093c950e41620fdf18debc2"]},"place":4}','626e7d3d742fc1c14e6cc10dfb11e753cfb0079119f3ad57273ad4cc3cbddb58','6dedc2377de129e39271112d0c1106b6cafd2e2deb6c50c725c143279255a4f7');
INSERT INTO "log" VALUES(44,'2026-11-22T13:03:00.000+00:00','RE','preferred blind','session 1','{"facts":{"blind_preferences":[1,1,1,"8ef8dc0959422e38f44bc8e81b2a64a06568d0ab5b6792db0e43f45c5581e986"]},"place":5}','6dedc2377de129e39271112d0c1106b6cafd2e2deb6c50c725c143279255a4f7','97c1da333cf88dbca119419083c90b02050bd1aee607e89d52d6aca7f039edb5');
INSERT INTO "log" VALUES(45,'2026-11-22T13:03:00.000+00:00','RE','preferred blind','session 1','{"facts":{"blind_preferences":[2,2,1,"c00edd961c82ce77c10b091d1115c7b440766b35b9b149994240f30510349c8b"]},"place":6}','97c1da333cf88dbca119419083c90b02050bd1aee607e89d52d6aca7f039edb5','5f61ddb23ee77ba2880c88e423f9d265ebe7489c1f6de7f89e8893e2e3424371');
INSERT INTO "log" VALUES(46,'2026-11-22T13:23:00.000+00:00','CO','blind session opened','session 2','{"analysis_plan_sha256":"3657bdf70878d5189211bd976aaa6dc94a3a5dfdb354813fe2488d46661ece23","facts":{"blind_states":[2,2,1,"844053543f31f5f169527cf77a73243e1aaa48f0d9d6b732c1b49d6f579edad8"]}}','5f61ddb23ee77ba2880c88e423f9d265ebe7489c1f6de7f89e8893e2e3424371','a19a264cb084df8a0b5426b7d227d6a30e649c863d24f6393202a94e4327fdc9');
INSERT INTO "log" VALUES(47,'2026-11-22T13:23:00.000+00:00','RE','scored blind','session 2','{"facts":{"blind_scores":[5,5,1,"2a2ac9e4b2b8afa26900c0a520c060591134cc05bff29a5918c0a77834eb452f"]},"place":1}','a19a264cb084df8a0b5426b7d227d6a30e649c863d24f6393202a94e4327fdc9','7ecdb36df4e6085f1017f7a6e67dbeaeb3fa77aceeb1fe80889286821f4df6e7');
INSERT INTO "log" VALUES(48,'2026-11-22T13:23:00.000+00:00','RE','scored blind','session 2','{"facts":{"blind_scores":[6,6,1,"b4c68e01a897dd8f3ef2fa65b985bf9d46da167af712b62b253a35a0f7bd808d"]},"place":2}','7ecdb36df4e6085f1017f7a6e67dbeaeb3fa77aceeb1fe80889286821f4df6e7','cdc32d6a9a6c80a0770a340712e5eb5e84cbc36b33789cee0927af50168cb392');
INSERT INTO "log" VALUES(49,'2026-11-22T13:23:00.000+00:00','RE','scored blind','session 2','{"facts":{"blind_scores":[7,7,1,"8fd8f9ac5e9c7798e2fb9c23c9863acc92556508e5ee5ef07f7f882eff0ac833"]},"place":3}','cdc32d6a9a6c80a0770a340712e5eb5e84cbc36b33789cee0927af50168cb392','99a132c961a1cedb3e63dc687c86483032b0cd272bd1cb585207ebc948686c9a');
INSERT INTO "log" VALUES(50,'2026-11-22T13:23:00.000+00:00','RE','scored blind','session 2','{"facts":{"blind_scores":[8,8,1,"3f3cd5e5fdb0c1fa3f57185991d30f3e2a677018e9269a26eefa5071f95e8039"]},"place":4}','99a132c961a1cedb3e63dc687c86483032b0cd272bd1cb585207ebc948686c9a','8f11c958569cd205ed15723a0f42b3a3c4c5e6ae7a371d3f846406ceb8426290');
INSERT INTO "log" VALUES(51,'2026-11-22T13:23:00.000+00:00','RE','preferred blind','session 2','{"facts":{"blind_preferences":[3,3,1,"1959d1737d408e105cb6d8135f191b05fa24199a794ceff093dd842fb5e4785a"]},"place":5}','8f11c958569cd205ed15723a0f42b3a3c4c5e6ae7a371d3f846406ceb8426290','aba0ef737cdaa2621e7970d4f240f418d50ef40f26bbf4874c39bb209bc2a70f');
INSERT INTO "log" VALUES(52,'2026-11-22T13:23:00.000+00:00','RE','preferred blind','session 2','{"facts":{"blind_preferences":[4,4,1,"720f30ee4699ce1bbdc4be956eaef1a198ee933c1d5d6d75d8cc856d407cc113"]},"place":6}','aba0ef737cdaa2621e7970d4f240f418d50ef40f26bbf4874c39bb209bc2a70f','52c0ffbf04d76721efc37413330c71cc2bfd4048358506faa577d082c6da4606');
INSERT INTO "log" VALUES(53,'2026-11-22T13:43:00.000+00:00','CO','judged blind','session 1','{"facts":{"blind_judgements":[1,1,1,"5b5e3a7607199d25760ad1835c0ea515202e9c92c2f075a5ea7426e5e8562691"]},"judge":"judge-70b"}','52c0ffbf04d76721efc37413330c71cc2bfd4048358506faa577d082c6da4606','03b2fd8efda227bf6559bbb1cf95282cc24bafc346f3789c41d38f22047d3215');
INSERT INTO "log" VALUES(54,'2026-11-22T13:43:00.000+00:00','CO','blind session closed','session 1','{"facts":{"blind_states":[3,3,1,"c8c1814d775e72343b43b281d362e54f43da59047efc0e75605d728316baab9d"]}}','03b2fd8efda227bf6559bbb1cf95282cc24bafc346f3789c41d38f22047d3215','81f5f8738a7ae3077170f8a463d364e2241a5b004b2b2323d844c7bc341e8181');
INSERT INTO "log" VALUES(55,'2026-11-22T13:43:00.000+00:00','CO','scores recorded','cv','{"count":2,"model":"32906bd71bb52bb08592c97d1c3ef2bcd84017d9aa4c848a77e372d9624ee676"}','81f5f8738a7ae3077170f8a463d364e2241a5b004b2b2323d844c7bc341e8181','88c07842ba217ee4a17aa3631213338fa4938a68c9115a2432ed24a5c93c7e6a');
INSERT INTO "log" VALUES(56,'2026-11-22T13:43:00.000+00:00','CO','shown','item 5','{"facts":{"showings":[1,1,1,"a9a655a58f39a2f0d2efc3d741237878828ff51f0afcf5438ae9c3ad49d45fa4"]}}','88c07842ba217ee4a17aa3631213338fa4938a68c9115a2432ed24a5c93c7e6a','85fcd428c0134a9d0a2fe40dc9a4b8991ae83e25fcc855f725443769acb21b44');
INSERT INTO "log" VALUES(57,'2026-11-22T13:43:00.000+00:00','CO','trials recorded','trials','{"count":1,"facts":{"trials":[1,1,1,"8c9a093a30da0382117464dc4fcbc52651535e9aa1c18d6f80516c22738089e8"]}}','85fcd428c0134a9d0a2fe40dc9a4b8991ae83e25fcc855f725443769acb21b44','9371db8a241ecd6102a8ff50fb9348cb2735e10df2f89a23020fe3c236281b9b');
INSERT INTO "log" VALUES(58,'2026-11-22T13:43:00.000+00:00','CO','trials recorded','trials','{"count":1,"facts":{"trials":[2,2,1,"1c53005a01bb53ee59dda99f81d84c3ee17eb7ea06bf092f2999f8e69ddda28f"]}}','9371db8a241ecd6102a8ff50fb9348cb2735e10df2f89a23020fe3c236281b9b','30c979267ea72a7280619c878de0898eb8b85e5e9ee46f466132df8f1c88e7bc');
INSERT INTO "log" VALUES(59,'2026-11-22T13:43:00.000+00:00','CO','trials recorded','trials','{"count":1,"facts":{"trials":[3,3,1,"d75784dd9557c803e7b40669c722197bf9e4738fc30323e40966b09b580a9819"]}}','30c979267ea72a7280619c878de0898eb8b85e5e9ee46f466132df8f1c88e7bc','54e35ee5e5c83728452611b53dc69f911150c3001ab619e8d4cc7a20f9f12e6d');
INSERT INTO "log" VALUES(60,'2026-11-22T13:43:00.000+00:00','CO','deactivated','JU','{"leases ended":0,"people":{"JU":"71fa373889d85396376de35e21d76b0837b7d2a186a1728601858749d2dd90c5"},"sessions ended":0}','54e35ee5e5c83728452611b53dc69f911150c3001ab619e8d4cc7a20f9f12e6d','e109c916e90556c52f73e93e60fb04affb519a792c29666b3aa032a1e4253596');
CREATE TABLE marks (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES items (id),
    version INTEGER NOT NULL REFERENCES versions (id),
    step TEXT NOT NULL,
    person TEXT NOT NULL REFERENCES people (initials),
    mark TEXT NOT NULL,
    note TEXT NOT NULL,
    at TEXT NOT NULL
);
INSERT INTO "marks" VALUES(1,'eb133c66a10d4eeea92ab9c26a3d411a',1,1,'s3','VO','hallucinated feature','=cmd|''x''!A1 and “quotes”','2026-11-22T12:00:00.000+00:00');
CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL);
INSERT INTO "migrations" VALUES(1,'first schema','2026-11-21T12:00:00.000+00:00');
INSERT INTO "migrations" VALUES(2,'blind sessions','2026-11-21T12:00:00.000+00:00');
INSERT INTO "migrations" VALUES(3,'audit log','2026-11-21T12:00:00.000+00:00');
INSERT INTO "migrations" VALUES(4,'work times','2026-11-21T12:00:00.000+00:00');
INSERT INTO "migrations" VALUES(5,'inspections','2026-11-21T12:00:00.000+00:00');
INSERT INTO "migrations" VALUES(6,'trust','2026-11-21T12:00:00.000+00:00');
INSERT INTO "migrations" VALUES(7,'imports and figures','2026-11-21T12:00:00.000+00:00');
CREATE TABLE people (
    initials TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    roles TEXT NOT NULL CHECK (json_valid(roles)),
    password TEXT,
    active INTEGER NOT NULL DEFAULT 1,
    added_at TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO "people" VALUES('AU','Dr AU','["auditor"]',NULL,1,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "people" VALUES('AX','Dr AX','["auditor"]',NULL,1,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "people" VALUES('CO','Dr CO','["coordinator"]',NULL,1,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "people" VALUES('JU','Dr JU','["auditor"]',NULL,0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "people" VALUES('RE','Dr RE','["reviewer"]',NULL,1,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "people" VALUES('VO','Dr VO','["reviewer"]',NULL,1,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "people" VALUES('ZO','Zoë Ångström','["auditor", "reviewer"]','scrypt$15$8$3$be5934b89e207fa913b242b4465526da$334fb7241bf4ad1f5505b838daae8addabd1dfd318eddb55c77ec84d69208a65',1,'2026-11-21T12:00:00.000+00:00');
CREATE TABLE pictures (sha256 TEXT PRIMARY KEY, png BLOB NOT NULL);
INSERT INTO "pictures" VALUES('72f029cb07a1704fd328e4dc99fd2609374fb8e520f9021f8d3bcc7d761a0296',X'89504E470D0A1A0A0000000D49484452000000030000000208020000001216F14D0000001549444154789C63646068606060606060606280010008BC00847A9A81500000000049454E44AE426082');
CREATE TABLE score_models (
    sha256 TEXT NOT NULL,
    task TEXT NOT NULL,
    at TEXT NOT NULL,
    model TEXT NOT NULL CHECK (json_valid(model)),
    PRIMARY KEY (sha256, task)
) WITHOUT ROWID;
INSERT INTO "score_models" VALUES('32906bd71bb52bb08592c97d1c3ef2bcd84017d9aa4c848a77e372d9624ee676','cv','2026-11-22T13:43:00.000+00:00','{"bias":0.1,"kind":"raw"}');
CREATE TABLE scores (
    item INTEGER PRIMARY KEY REFERENCES items (id),
    p_yes REAL NOT NULL CHECK (p_yes BETWEEN 0 AND 1),
    -- Why no certificate covers the item; without reasons it can be ordered by value of information.
    reasons TEXT NOT NULL CHECK (json_valid(reasons)),
    features TEXT NOT NULL CHECK (json_valid(features)),
    model TEXT NOT NULL,
    at TEXT NOT NULL
);
INSERT INTO "scores" VALUES(5,3.33333333333333314829e-01,'[]','{"vote": -2.2}','32906bd71bb52bb08592c97d1c3ef2bcd84017d9aa4c848a77e372d9624ee676','2026-11-22T13:43:00.000+00:00');
INSERT INTO "scores" VALUES(6,0.75,'["S/N 2, expected 3 or more"]','{"vote": null}','32906bd71bb52bb08592c97d1c3ef2bcd84017d9aa4c848a77e372d9624ee676','2026-11-22T13:43:00.000+00:00');
CREATE TABLE sessions (
    token_hash TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES people (initials),
    started_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    ended_at TEXT
) WITHOUT ROWID;
INSERT INTO "sessions" VALUES('dbe709cc587a83c7c65b7beb417a04a552be96c9a496e181ec2f94cd7af523de','ZO','2026-11-22T13:03:00.000+00:00','2026-11-23T13:03:00.000+00:00','2026-11-22T13:03:00.000+00:00');
INSERT INTO "sessions" VALUES('f6e4eb179e76c37f95590e06b80563c689ef5827fc07343f0ea1fe2d534a5eeb','ZO','2026-11-22T13:03:00.000+00:00','2026-11-23T13:03:00.000+00:00',NULL);
CREATE TABLE settings (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    value TEXT NOT NULL CHECK (json_valid(value)),
    person TEXT REFERENCES people (initials),
    at TEXT NOT NULL
);
INSERT INTO "settings" VALUES(1,'rules','{"approve_at": 2, "auditors": 2, "reject_at": 2, "solo": false, "votes": 2}',NULL,'2026-11-25T21:02:29.653+00:00');
INSERT INTO "settings" VALUES(2,'rules','{"approve_at": 2, "auditors": 2, "reject_at": 2, "solo": false, "votes": 3}','CO','2026-11-21T12:00:00.000+00:00');
INSERT INTO "settings" VALUES(3,'campaign','{"name": "November", "classes": ["cv"]}','CO','2026-11-21T12:00:00.000+00:00');
CREATE TABLE showings (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES items (id),
    person TEXT NOT NULL REFERENCES people (initials),
    arm TEXT NOT NULL CHECK (arm IN ('random', 'value')),
    probability REAL NOT NULL CHECK (probability > 0 AND probability <= 1),
    plan TEXT NOT NULL CHECK (json_valid(plan)),
    at TEXT NOT NULL
);
INSERT INTO "showings" VALUES(1,'a showing''s key',5,'CO','value',1.0,'{"strata": [[0.0, 0.41666666666666663, 1, 1.0], [0.41666666666666663, 1.0, 0, 0.0]], "random_share": 0.2, "filter": {"task": "cv"}, "open": null}','2026-11-22T13:43:00.000+00:00');
CREATE TABLE sign_ins (
    id INTEGER PRIMARY KEY,
    initials TEXT NOT NULL,
    origin TEXT NOT NULL,
    ok INTEGER NOT NULL,
    at TEXT NOT NULL
);
INSERT INTO "sign_ins" VALUES(1,'ZO','10.0.0.1',1,'2026-11-22T13:03:00.000+00:00');
INSERT INTO "sign_ins" VALUES(2,'ZO','10.0.0.2',1,'2026-11-22T13:03:00.000+00:00');
INSERT INTO "sign_ins" VALUES(3,'ZO','10.0.0.3',0,'2026-11-22T13:03:00.000+00:00');
CREATE TABLE spectra (
    sha256 TEXT PRIMARY KEY,
    grid TEXT NOT NULL REFERENCES grids (sha256),
    name TEXT NOT NULL,
    survey TEXT NOT NULL,
    medium TEXT NOT NULL CHECK (medium IN ('vacuum', 'air')),
    frame TEXT NOT NULL CHECK (frame IN ('observed', 'rest')),
    flux_unit TEXT NOT NULL,
    redshift REAL,
    ra REAL,
    dec REAL,
    catalogue_class TEXT NOT NULL,
    errors TEXT NOT NULL,
    details TEXT NOT NULL CHECK (json_valid(details)),
    flux_type TEXT NOT NULL CHECK (flux_type IN ('<f4', '<f8')),
    flux BLOB NOT NULL,
    ivar_type TEXT NOT NULL CHECK (ivar_type IN ('<f4', '<f8')),
    ivar BLOB NOT NULL,
    mask BLOB NOT NULL,
    added_at TEXT NOT NULL
);
INSERT INTO "spectra" VALUES('034c8b4d0be5ceca29dcbc44dac72ceb76ff94ae773d9bd19e8d137f065b3a7b','c0e9d151a64b62d94930416cf0bcd9221e5428e046c7ebd01d72e8deb336c626','spec-0000.fits','LAMOST','vacuum','observed','relative',0.0,NULL,NULL,'','measured','{"ids": {"obsid": "14812345"}, "snr": {"r": 20.0}, "meta": {}}','<f4',X'789C1379FDF315BF46BCD9A7A3CC12FCFC36AD91BA13854D2ADB98A766BE5E9DFBEBF5217F0F86D62999714DDFB7F4DD7CF53FE3D3E22C46AFD9523D67BCAD8424ED3CDAF63D5CF74CAF9667D94D9E3A8F0916979FB64E55AB5B9C33F5A6F09BF86F13B7E8338BDB34A425C87B5D0B5D90D3CFDC5F62B069698276F247ED23BF55B4967FBB952EFAC4EA6051C3FFE3259F0E2965EC5C7E2EEF9BF3A2E0D2351A628A9B2E7EC978757FC645DBFF11E66EC9BC8FAEF1F7ED4CFAC5C4FAEFC47D91291BCBD8662F947CECF45821B6AFA126FEE863AEBB93967538A6BE7EBEF834DFC7FFD5AFF43E2C6464CA949D70AEE1900D5B9EBCB6C4AA64AED98AF7DF644AF7177BBDDED8B758F153C0AE9B3D064E3BF5D6CE7CE2BD3765F54FBBD8958792B6D83D96287079BA74CF31CE43D3AE55F3DBEF29CFDFF4822D34338EED476FD1F337DBE5BEFEC8E995C8FADC7B4250B8ECA9475FE1FA2D378EF97D4A6F9E7890AFA448DDE29BCBEB925D5E95EF2E28C9D8865E58CD3467C60715F7FA5F491B1F4E2F5DFE2B7289A3E9C7979FEC32F7594AA4AD8CDD33C1F0987852787BE6928405D59E2BAB1E4C3234B4BEF85DB87765FB29E6B7AD13261E8FDD61E4717C83EF395EB6DB5358EE2DBE64FF3FD46BD96FA9E9EAAE01DFBF3EE82EDEB543FDE9848E1FA27397DD10E5887CC85CF5FF914CD996259AC5FD9C3BFBC4B326963ACFBD1CCE9097B83975E992876CFFBFA6292ED876EFCBC4BCB0FB9F02657E2FF5293FE917A7DC762FE681FF65ED682BA186F92C390CAE99797DD9A77D2D332484B4DF7FBBE6B0E08747E4FF40B98DCC95029E777A4F39DE9B94DB7CF3BD0BAFD856BE33A18DF2D5FB2C76199F3094E050CC7699B2566F598DA591994EF2BE8EB470D3B2FE86B6DECC85992D8B6B1B8B5A3CF3A73655B6B436B687B6E775D5A7D5A5F5D477254FA998D895DC52D43AA9A337A9A9A5B7A0BD3522B53531A1BBB9B2B1B4A8A46542715D557C73775657615F7F994F794C5CE5C4DAAA808298B6A2BAFAEA9EB6F2C6F6898D930AAA22BB5253BB8A727AAABB4B3B7B1BA7975635F6549434F797C6D7B41735063434B63777A6758416F47505B497E434354E8C2EAD09E89F96DF52D99CD79534B1657E686D7C4D6B467470D384FE86F4B2C8F0DE8A968A099372CAF226F457CC6D48F0AE692968E9AFEB9ADA56D8DA36BB24A2B9A5B4BDA53F2BAFBE78427BFDE4B69EAE9A9A8694F2AEE6F479A9ED9D13321BAAFB5A5BDB677674677426F4346525D73515575696D4B44CEC2C9E3AA1BAAF24BF605A736B53457BD7ACDCA95DE17DD3FAED4701D10000791906FD','<f4',X'789C63601805A380FAE0C428201A388D02A2010009B237C8',X'789C63602006000000260001','2026-11-21T12:00:00.000+00:00');
INSERT INTO "spectra" VALUES('65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76','c0e9d151a64b62d94930416cf0bcd9221e5428e046c7ebd01d72e8deb336c626','spec-0001.fits','LAMOST','vacuum','observed','relative',0.01,NULL,NULL,'','measured','{"ids": {"obsid": "14812345"}, "snr": {"r": 20.0}, "meta": {}}','<f4',X'789C1379FDF315BF46BCD9A7A3CC12FCFC36AD91BA13854D2ADB98A766BE5E9DFBEBF5217F0F86D62999714DDFB7F4DD7CF53FE3D3E22C46AFD9523D67BCAD8424ED3CDAF63D5CF74CAF9667D94D9E3A8F0916979FB64E55AB5B9C33F5A6F09BF86F13B7E8338BDB34A425C87B5D0B5D90D3CFDC5F62B069698276F247ED23BF55B4967FBB952EFAC4EA6051C3FFE3259F0E2965EC5C7E2EEF9BF3A2E0D2351A628A9B2E7EC978757FC645DBFF11E66EC9BC8FAEF1F7ED4CFAC5C4FAEFC47D91291BCBD8662F947CECF45821B6AFA126FEE863AEBB93967538A6BE7EBEF834DFC7FFD5AFF43E2C6464CA949D70AEE1900D5B9EBCB6C4AA64AED98AF7DF644AF7177BBDDED8B758F153C0AE9B3D064E3BF5D6CE7CE2BD3765F54FBBD8958792B6D83D96287079BA74CF31CE43D3AE55F3DBEF29CFDFF4822D34338EED476FD1F337DBE5BEFEC8E995C8FADC7B4250B8ECA9475FE1FA2D378EF97D4A6F9E7890AFA448DDE29BCBEB925D5E95EF2E28C9D8865E58CD3467C60715F7FA5F491B1F4E2F5DFE2B7289A3E9C7979FEC32F7594AA4AD8CDD33C1F0987852787BE6928405D59E2BAB1E4C3234B4BEF85DB87765FB29E6B7AD13261E8FDD61E4717C83EF395EB6DB5358EE2DBE64FF3FD46BD96FA9E9EAAE01DFBF3EE82EDEB543FDE9848E1FA27397DD10E5887CC85CF5FF914CD996259AC5FD9C3BFBC4B326963ACFBD1CCE9097B83975E992876CFFBFA6292ED876EFCBC4BCB0FB9F02657E2FF5293FE917A7DC762FE681FF65ED682BA186F92C390CAE99797DD9A77D2D332484B4DF7FBBE6B0E08747E4FF40B98DCC95029E777A4F39DE9B94DB7CF3BD0BAFD856BE33A18DF2D5FB2C76199F3094E050CC7699B2566F598DA591994EF2BE8EB470D3B2FE86B6DECC85992D8B6B1B8B5A3CF3A73655B6B436B687B6E775D5A7D5A5F5D477254FA998D895DC52D43AA9A337A9A9A5B7A0BD3522B53531A1BBB9B2B1B4A8A46542715D557C73775657615F7F994F794C5CE5C4DAAA808298B6A2BAFAEA9EB6F2C6F6898D930AAA22BB5253BB8A727AAABB4B3B7B1BA7975635F6549434F797C6D7B41735063434B63777A6758416F47505B497E434354E8C2EAD09E89F96DF52D99CD79534B1657E686D7C4D6B467470D384FE86F4B2C8F0DE8A968A099372CAF226F457CC6D48F0AE692968E9AFEB9ADA56D8DA36BB24A2B9A5B4BDA53F2BAFBE78427BFDE4B69EAE9A9A8694F2AEE6F479A9ED9D13321BAAFB5A5BDB677674677426F4346525D73515575696D4B44CEC2C9E3AA1BAAF24BF605A736B53457BD7ACDCA95DE17DD3FAED4701D10000791906FD','<f4',X'789C63601805A380FAE0C428201A388D02A2010009B237C8',X'789C63602006000000260001','2026-11-21T12:00:00.000+00:00');
INSERT INTO "spectra" VALUES('179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038','c0e9d151a64b62d94930416cf0bcd9221e5428e046c7ebd01d72e8deb336c626','spec-0002.fits','LAMOST','vacuum','observed','relative',0.02,NULL,NULL,'','measured','{"ids": {"obsid": "14812345"}, "snr": {"r": 20.0}, "meta": {}}','<f4',X'789C1379FDF315BF46BCD9A7A3CC12FCFC36AD91BA13854D2ADB98A766BE5E9DFBEBF5217F0F86D62999714DDFB7F4DD7CF53FE3D3E22C46AFD9523D67BCAD8424ED3CDAF63D5CF74CAF9667D94D9E3A8F0916979FB64E55AB5B9C33F5A6F09BF86F13B7E8338BDB34A425C87B5D0B5D90D3CFDC5F62B069698276F247ED23BF55B4967FBB952EFAC4EA6051C3FFE3259F0E2965EC5C7E2EEF9BF3A2E0D2351A628A9B2E7EC978757FC645DBFF11E66EC9BC8FAEF1F7ED4CFAC5C4FAEFC47D91291BCBD8662F947CECF45821B6AFA126FEE863AEBB93967538A6BE7EBEF834DFC7FFD5AFF43E2C6464CA949D70AEE1900D5B9EBCB6C4AA64AED98AF7DF644AF7177BBDDED8B758F153C0AE9B3D064E3BF5D6CE7CE2BD3765F54FBBD8958792B6D83D96287079BA74CF31CE43D3AE55F3DBEF29CFDFF4822D34338EED476FD1F337DBE5BEFEC8E995C8FADC7B4250B8ECA9475FE1FA2D378EF97D4A6F9E7890AFA448DDE29BCBEB925D5E95EF2E28C9D8865E58CD3467C60715F7FA5F491B1F4E2F5DFE2B7289A3E9C7979FEC32F7594AA4AD8CDD33C1F0987852787BE6928405D59E2BAB1E4C3234B4BEF85DB87765FB29E6B7AD13261E8FDD61E4717C83EF395EB6DB5358EE2DBE64FF3FD46BD96FA9E9EAAE01DFBF3EE82EDEB543FDE9848E1FA27397DD10E5887CC85CF5FF914CD996259AC5FD9C3BFBC4B326963ACFBD1CCE9097B83975E992876CFFBFA6292ED876EFCBC4BCB0FB9F02657E2FF5293FE917A7DC762FE681FF65ED682BA186F92C390CAE99797DD9A77D2D332484B4DF7FBBE6B0E08747E4FF40B98DCC95029E777A4F39DE9B94DB7CF3BD0BAFD856BE33A18DF2D5FB2C76199F3094E050CC7699B2566F598DA591994EF2BE8EB470D3B2FE86B6DECC85992D8B6B1B8B5A3CF3A73655B6B436B687B6E775D5A7D5A5F5D477254FA998D895DC52D43AA9A337A9A9A5B7A0BD3522B53531A1BBB9B2B1B4A8A46542715D557C73775657615F7F994F794C5CE5C4DAAA808298B6A2BAFAEA9EB6F2C6F6898D930AAA22BB5253BB8A727AAABB4B3B7B1BA7975635F6549434F797C6D7B41735063434B63777A6758416F47505B497E434354E8C2EAD09E89F96DF52D99CD79534B1657E686D7C4D6B467470D384FE86F4B2C8F0DE8A968A099372CAF226F457CC6D48F0AE692968E9AFEB9ADA56D8DA36BB24A2B9A5B4BDA53F2BAFBE78427BFDE4B69EAE9A9A8694F2AEE6F479A9ED9D13321BAAFB5A5BDB677674677426F4346525D73515575696D4B44CEC2C9E3AA1BAAF24BF605A736B53457BD7ACDCA95DE17DD3FAED4701D10000791906FD','<f4',X'789C63601805A380FAE0C428201A388D02A2010009B237C8',X'789C63602006000000260001','2026-11-21T12:00:00.000+00:00');
INSERT INTO "spectra" VALUES('0fbec2bc4f2c2577d778cda4012259c900b4eded069acb61df1e54b1aa9dba29','c0e9d151a64b62d94930416cf0bcd9221e5428e046c7ebd01d72e8deb336c626','spec-0003.fits','LAMOST','vacuum','observed','relative',0.03,NULL,NULL,'','measured','{"ids": {"obsid": "14812345"}, "snr": {"r": 20.0}, "meta": {}}','<f4',X'789C1379FDF315BF46BCD9A7A3CC12FCFC36AD91BA13854D2ADB98A766BE5E9DFBEBF5217F0F86D62999714DDFB7F4DD7CF53FE3D3E22C46AFD9523D67BCAD8424ED3CDAF63D5CF74CAF9667D94D9E3A8F0916979FB64E55AB5B9C33F5A6F09BF86F13B7E8338BDB34A425C87B5D0B5D90D3CFDC5F62B069698276F247ED23BF55B4967FBB952EFAC4EA6051C3FFE3259F0E2965EC5C7E2EEF9BF3A2E0D2351A628A9B2E7EC978757FC645DBFF11E66EC9BC8FAEF1F7ED4CFAC5C4FAEFC47D91291BCBD8662F947CECF45821B6AFA126FEE863AEBB93967538A6BE7EBEF834DFC7FFD5AFF43E2C6464CA949D70AEE1900D5B9EBCB6C4AA64AED98AF7DF644AF7177BBDDED8B758F153C0AE9B3D064E3BF5D6CE7CE2BD3765F54FBBD8958792B6D83D96287079BA74CF31CE43D3AE55F3DBEF29CFDFF4822D34338EED476FD1F337DBE5BEFEC8E995C8FADC7B4250B8ECA9475FE1FA2D378EF97D4A6F9E7890AFA448DDE29BCBEB925D5E95EF2E28C9D8865E58CD3467C60715F7FA5F491B1F4E2F5DFE2B7289A3E9C7979FEC32F7594AA4AD8CDD33C1F0987852787BE6928405D59E2BAB1E4C3234B4BEF85DB87765FB29E6B7AD13261E8FDD61E4717C83EF395EB6DB5358EE2DBE64FF3FD46BD96FA9E9EAAE01DFBF3EE82EDEB543FDE9848E1FA27397DD10E5887CC85CF5FF914CD996259AC5FD9C3BFBC4B326963ACFBD1CCE9097B83975E992876CFFBFA6292ED876EFCBC4BCB0FB9F02657E2FF5293FE917A7DC762FE681FF65ED682BA186F92C390CAE99797DD9A77D2D332484B4DF7FBBE6B0E08747E4FF40B98DCC95029E777A4F39DE9B94DB7CF3BD0BAFD856BE33A18DF2D5FB2C76199F3094E050CC7699B2566F598DA591994EF2BE8EB470D3B2FE86B6DECC85992D8B6B1B8B5A3CF3A73655B6B436B687B6E775D5A7D5A5F5D477254FA998D895DC52D43AA9A337A9A9A5B7A0BD3522B53531A1BBB9B2B1B4A8A46542715D557C73775657615F7F994F794C5CE5C4DAAA808298B6A2BAFAEA9EB6F2C6F6898D930AAA22BB5253BB8A727AAABB4B3B7B1BA7975635F6549434F797C6D7B41735063434B63777A6758416F47505B497E434354E8C2EAD09E89F96DF52D99CD79534B1657E686D7C4D6B467470D384FE86F4B2C8F0DE8A968A099372CAF226F457CC6D48F0AE692968E9AFEB9ADA56D8DA36BB24A2B9A5B4BDA53F2BAFBE78427BFDE4B69EAE9A9A8694F2AEE6F479A9ED9D13321BAAFB5A5BDB677674677426F4346525D73515575696D4B44CEC2C9E3AA1BAAF24BF605A736B53457BD7ACDCA95DE17DD3FAED4701D10000791906FD','<f4',X'789C63601805A380FAE0C428201A388D02A2010009B237C8',X'789C63602006000000260001','2026-11-21T12:00:00.000+00:00');
CREATE TABLE standing_figures (
    day TEXT, state TEXT, task TEXT, batch TEXT, compared INTEGER, disagreement INTEGER, items INTEGER NOT NULL,
    PRIMARY KEY (day, state, task, batch, compared, disagreement)
) WITHOUT ROWID;
INSERT INTO "standing_figures" VALUES('','audit','cv','november',0,0,1);
INSERT INTO "standing_figures" VALUES('','returned','cv','november',0,0,1);
INSERT INTO "standing_figures" VALUES('','revision','cv','november',0,0,0);
INSERT INTO "standing_figures" VALUES('','screening','cv','',0,0,0);
INSERT INTO "standing_figures" VALUES('','screening','cv','november',0,0,5);
INSERT INTO "standing_figures" VALUES('','vote','cv','november',1,0,0);
INSERT INTO "standing_figures" VALUES('2026-11-22','approved','cv','november',1,0,1);
INSERT INTO "standing_figures" VALUES('2026-11-22','rejected','cv','',0,0,1);
CREATE TABLE standings (
    item INTEGER PRIMARY KEY REFERENCES items (id),
    state TEXT NOT NULL,
    version INTEGER NOT NULL REFERENCES versions (id),
    number INTEGER NOT NULL,
    "cast" INTEGER NOT NULL,
    compared INTEGER NOT NULL,
    disagreement INTEGER NOT NULL,
    decided_at TEXT,
    task TEXT NOT NULL,
    survey TEXT NOT NULL,
    snr REAL,
    drafter TEXT NOT NULL,
    batch TEXT NOT NULL,
    simulated INTEGER NOT NULL
);
INSERT INTO "standings" VALUES(1,'approved',1,1,0,1,0,'2026-11-22T12:03:00.000+00:00','cv','LAMOST',20.0,'gpt-5','november',0);
INSERT INTO "standings" VALUES(2,'returned',10,2,0,0,0,NULL,'cv','LAMOST',20.0,'Spec-o3-7B','november',0);
INSERT INTO "standings" VALUES(3,'screening',3,1,0,0,0,NULL,'cv','LAMOST',20.0,'gpt-5','november',0);
INSERT INTO "standings" VALUES(4,'screening',4,1,0,0,0,NULL,'cv','LAMOST',20.0,'Spec-o3-7B','november',0);
INSERT INTO "standings" VALUES(5,'screening',5,1,0,0,0,NULL,'cv','LAMOST',20.0,'gpt-5','november',0);
INSERT INTO "standings" VALUES(6,'screening',6,1,0,0,0,NULL,'cv','LAMOST',20.0,'Spec-o3-7B','november',0);
INSERT INTO "standings" VALUES(7,'audit',7,1,1,0,0,NULL,'cv','LAMOST',20.0,'gpt-5','november',0);
INSERT INTO "standings" VALUES(8,'screening',8,1,0,0,0,NULL,'cv','LAMOST',20.0,'Spec-o3-7B','november',0);
INSERT INTO "standings" VALUES(9,'rejected',9,1,0,0,0,'2026-11-22T12:03:00.000+00:00','cv','',NULL,'rule 1','',0);
CREATE TABLE tallies (
    state TEXT, task TEXT, survey TEXT, drafter TEXT, batch TEXT, disagreement INTEGER, simulated INTEGER,
    items INTEGER NOT NULL CHECK (items >= 0),
    PRIMARY KEY (state, task, survey, drafter, batch, disagreement, simulated)
) WITHOUT ROWID;
INSERT INTO "tallies" VALUES('approved','cv','LAMOST','gpt-5','november',0,0,1);
INSERT INTO "tallies" VALUES('audit','cv','LAMOST','Spec-o3-7B','november',0,0,0);
INSERT INTO "tallies" VALUES('audit','cv','LAMOST','gpt-5','november',0,0,1);
INSERT INTO "tallies" VALUES('rejected','cv','','rule 1','',0,0,1);
INSERT INTO "tallies" VALUES('returned','cv','LAMOST','Spec-o3-7B','november',0,0,1);
INSERT INTO "tallies" VALUES('revision','cv','LAMOST','Spec-o3-7B','november',0,0,0);
INSERT INTO "tallies" VALUES('revision','cv','LAMOST','gpt-5','november',0,0,0);
INSERT INTO "tallies" VALUES('screening','cv','','rule 1','',0,0,0);
INSERT INTO "tallies" VALUES('screening','cv','LAMOST','Spec-o3-7B','november',0,0,3);
INSERT INTO "tallies" VALUES('screening','cv','LAMOST','gpt-5','november',0,0,2);
INSERT INTO "tallies" VALUES('vote','cv','LAMOST','gpt-5','november',0,0,0);
CREATE TABLE time_figures (
    person TEXT, round TEXT, active REAL, task TEXT, batch TEXT, decisions INTEGER NOT NULL,
    PRIMARY KEY (person, round, active, task, batch)
) WITHOUT ROWID;
INSERT INTO "time_figures" VALUES('VO','vote',43.0,'cv','november',1);
CREATE TABLE trials (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES items (id),
    version INTEGER NOT NULL REFERENCES versions (id),
    passed INTEGER CHECK (passed IN (0, 1)),
    person TEXT REFERENCES people (initials),
    at TEXT NOT NULL,
    result TEXT NOT NULL CHECK (json_valid(result))
);
INSERT INTO "trials" VALUES(1,'c78443879556bb6d2d3e601b6049e98340583cad22345ab13f8d9f0ee838c524',5,5,1,'CO','2026-11-22T13:43:00.000+00:00','{"text_after":"Hα “remains”. "}');
INSERT INTO "trials" VALUES(2,'853c5bfa20c4fef30382db968802cea9e55b9950f2168af77fe59b9209cf1e2a',6,6,0,'CO','2026-11-22T13:43:00.000+00:00','{"text_after":"Hα “remains”. "}');
INSERT INTO "trials" VALUES(3,'f00c52999bb85ebab21d99c4bd254aa817fedd8f4e02b81b95f99ecf296e30eb',8,8,NULL,'CO','2026-11-22T13:43:00.000+00:00','{"text_after":"Hα “remains”. "}');
CREATE TABLE verdicts (
    id INTEGER PRIMARY KEY,
    item INTEGER NOT NULL REFERENCES items (id),
    version INTEGER NOT NULL REFERENCES versions (id),
    person TEXT NOT NULL REFERENCES people (initials),
    verdict TEXT NOT NULL CHECK (verdict IN ('YES', 'NO', 'cannot tell')),
    at TEXT NOT NULL,
    UNIQUE (item, person, version)
);
INSERT INTO "verdicts" VALUES(1,1,1,'VO','cannot tell','2026-11-22T12:00:00.000+00:00');
CREATE TABLE version_figures (
    author TEXT, task TEXT, batch TEXT, versions INTEGER NOT NULL, PRIMARY KEY (author, task, batch)
) WITHOUT ROWID;
INSERT INTO "version_figures" VALUES('RE','cv','november',1);
CREATE TABLE versions (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES items (id),
    number INTEGER NOT NULL,
    content_hash TEXT NOT NULL,
    parent INTEGER REFERENCES versions (id),
    author TEXT REFERENCES people (initials),
    reason TEXT NOT NULL,
    at TEXT NOT NULL,
    -- Last, because SQLite reads through a long column to get at those behind it.
    body TEXT NOT NULL CHECK (json_valid(body)),
    UNIQUE (item, number)
);
INSERT INTO "versions" VALUES(1,'draft:sha256:a3855ab414e444ebb87246063960e13dcf44304785e5eacea1a9b58574fce2c0',1,1,'sha256:a3855ab414e444ebb87246063960e13dcf44304785e5eacea1a9b58574fce2c0',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0000.fits","sha256":"034c8b4d0be5ceca29dcbc44dac72ceb76ff94ae773d9bd19e8d137f065b3a7b"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"gpt-5","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"gpt-5 sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(2,'draft:sha256:1f77604def244c35f37d2fdf3a7ce9f73a731b763be3110b1ac95ddb4741d6e6',2,1,'sha256:1f77604def244c35f37d2fdf3a7ce9f73a731b763be3110b1ac95ddb4741d6e6',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0000.fits","sha256":"034c8b4d0be5ceca29dcbc44dac72ceb76ff94ae773d9bd19e8d137f065b3a7b"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"Spec-o3-7B","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"Spec-o3-7B sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(3,'draft:sha256:669c493c265dee0442689d4dd0c9f8147da1ebb108ac8299dabeff7a1ebb6933',3,1,'sha256:669c493c265dee0442689d4dd0c9f8147da1ebb108ac8299dabeff7a1ebb6933',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0001.fits","sha256":"65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"gpt-5","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"gpt-5 sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(4,'draft:sha256:df7f2075f84190c44abe57353a301c1668768fc78d3096dabf6836bfae310f03',4,1,'sha256:df7f2075f84190c44abe57353a301c1668768fc78d3096dabf6836bfae310f03',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0001.fits","sha256":"65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"Spec-o3-7B","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"Spec-o3-7B sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(5,'draft:sha256:f4a189e4892a3db78f98cd299590b039b9a5fa499c47f6dc430a3fddbfb69c0d',5,1,'sha256:f4a189e4892a3db78f98cd299590b039b9a5fa499c47f6dc430a3fddbfb69c0d',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0002.fits","sha256":"179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"gpt-5","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"gpt-5 sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(6,'draft:sha256:ed75bb616aaa004bf19dcb3b9892b1ece7bd2423bcb03b625871680653fbdfb7',6,1,'sha256:ed75bb616aaa004bf19dcb3b9892b1ece7bd2423bcb03b625871680653fbdfb7',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0002.fits","sha256":"179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"Spec-o3-7B","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"Spec-o3-7B sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(7,'draft:sha256:29f6ad24dd714115b56e6ae86278f3834f769c3a223e2dbbb07515ef28ad6787',7,1,'sha256:29f6ad24dd714115b56e6ae86278f3834f769c3a223e2dbbb07515ef28ad6787',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0003.fits","sha256":"0fbec2bc4f2c2577d778cda4012259c900b4eded069acb61df1e54b1aa9dba29"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"gpt-5","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"gpt-5 sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(8,'draft:sha256:ac35cfb1fc151079d0588b55846537bd3f1ad5ce2e35905c508dc76ec8b29b0e',8,1,'sha256:ac35cfb1fc151079d0588b55846537bd3f1ad5ce2e35905c508dc76ec8b29b0e',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0003.fits","sha256":"0fbec2bc4f2c2577d778cda4012259c900b4eded069acb61df1e54b1aa9dba29"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"Spec-o3-7B","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"Spec-o3-7B sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(9,'draft:sha256:e871b283c9ba77c7417d3a47a657b310ea2be90a6a79a012912bef3d6f798db0',9,1,'sha256:e871b283c9ba77c7417d3a47a657b310ea2be90a6a79a012912bef3d6f798db0',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"gone.fits","sha256":null},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"baseline","name":"rule 1","settings":{}},"label":null,"label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"Only its picture is left."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(10,'690e63c4a702432195d95d35b99401bd',2,2,'sha256:91eb91d9d58a9c8383582a025b85dd13c8cef2b6fdb6681963adcaa162415f4f',2,'RE','clearer','2026-11-22T12:03:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0000.fits","sha256":"034c8b4d0be5ceca29dcbc44dac72ceb76ff94ae773d9bd19e8d137f065b3a7b"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"Spec-o3-7B","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"Hα is narrow; the second look says so."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
CREATE TABLE work_times (
    id INTEGER PRIMARY KEY,
    decision INTEGER NOT NULL UNIQUE REFERENCES decisions (id),
    opened_at TEXT NOT NULL,
    -- Seconds from opening the item to the decision, and how many of them the person was active.
    elapsed REAL NOT NULL CHECK (elapsed >= 0),
    active REAL NOT NULL CHECK (active BETWEEN 0 AND elapsed)
);
INSERT INTO "work_times" VALUES(1,7,'2026-11-22T12:00:00.000+00:00',180.0,42.5);
CREATE INDEX settings_by_name ON settings (name, id);
CREATE INDEX sign_ins_by_initials ON sign_ins (initials, origin, at);
CREATE INDEX items_by_spectrum ON items (spectrum);
CREATE INDEX versions_by_author ON versions (author, item) WHERE author IS NOT NULL;
CREATE INDEX decisions_by_item ON decisions (item, id);
CREATE INDEX marks_by_item ON marks (item, id);
CREATE UNIQUE INDEX leases_running ON leases (item, person) WHERE ended IS NULL;
CREATE INDEX standings_walk
    ON standings (state, item, task, survey, snr, drafter, batch, disagreement, simulated);
CREATE INDEX standings_snr
    ON standings (snr, state, task, survey, drafter, batch, disagreement, simulated);
CREATE INDEX barred_by_item ON barred (item);
CREATE TRIGGER standings_insert AFTER insert ON standings BEGIN INSERT INTO tallies VALUES (new.state, new.task, new.survey, new.drafter, new.batch, new.disagreement, new.simulated, 1) ON CONFLICT DO UPDATE SET items = items + 1; END;
CREATE TRIGGER standings_delete AFTER delete ON standings BEGIN UPDATE tallies SET items = items - 1 WHERE state = old.state AND task = old.task AND survey = old.survey AND drafter = old.drafter AND batch = old.batch AND disagreement = old.disagreement AND simulated = old.simulated; END;
CREATE TRIGGER standings_update AFTER update OF state, task, survey, drafter, batch, disagreement, simulated ON standings BEGIN UPDATE tallies SET items = items - 1 WHERE state = old.state AND task = old.task AND survey = old.survey AND drafter = old.drafter AND batch = old.batch AND disagreement = old.disagreement AND simulated = old.simulated;INSERT INTO tallies VALUES (new.state, new.task, new.survey, new.drafter, new.batch, new.disagreement, new.simulated, 1) ON CONFLICT DO UPDATE SET items = items + 1; END;
CREATE TRIGGER versions_no_update BEFORE update ON versions BEGIN SELECT RAISE(ABORT, 'versions are facts: append, never update'); END;
CREATE TRIGGER versions_no_delete BEFORE delete ON versions BEGIN SELECT RAISE(ABORT, 'versions are facts: append, never delete'); END;
CREATE TRIGGER decisions_no_update BEFORE update ON decisions BEGIN SELECT RAISE(ABORT, 'decisions are facts: append, never update'); END;
CREATE TRIGGER decisions_no_delete BEFORE delete ON decisions BEGIN SELECT RAISE(ABORT, 'decisions are facts: append, never delete'); END;
CREATE TRIGGER marks_no_update BEFORE update ON marks BEGIN SELECT RAISE(ABORT, 'marks are facts: append, never update'); END;
CREATE TRIGGER marks_no_delete BEFORE delete ON marks BEGIN SELECT RAISE(ABORT, 'marks are facts: append, never delete'); END;
CREATE TRIGGER verdicts_no_update BEFORE update ON verdicts BEGIN SELECT RAISE(ABORT, 'verdicts are facts: append, never update'); END;
CREATE TRIGGER verdicts_no_delete BEFORE delete ON verdicts BEGIN SELECT RAISE(ABORT, 'verdicts are facts: append, never delete'); END;
CREATE TRIGGER settings_no_update BEFORE update ON settings BEGIN SELECT RAISE(ABORT, 'settings are facts: append, never update'); END;
CREATE TRIGGER settings_no_delete BEFORE delete ON settings BEGIN SELECT RAISE(ABORT, 'settings are facts: append, never delete'); END;
CREATE INDEX blind_scores_by_assignment ON blind_scores (assignment, id);
CREATE INDEX blind_preferences_by_assignment ON blind_preferences (assignment, id);
CREATE INDEX blind_judgements_by_session ON blind_judgements (session, judge);
CREATE TRIGGER blind_sessions_no_update BEFORE update ON blind_sessions BEGIN SELECT RAISE(ABORT, 'blind_sessions are facts: append, never update'); END;
CREATE TRIGGER blind_sessions_no_delete BEFORE delete ON blind_sessions BEGIN SELECT RAISE(ABORT, 'blind_sessions are facts: append, never delete'); END;
CREATE TRIGGER blind_assignments_no_update BEFORE update ON blind_assignments BEGIN SELECT RAISE(ABORT, 'blind_assignments are facts: append, never update'); END;
CREATE TRIGGER blind_assignments_no_delete BEFORE delete ON blind_assignments BEGIN SELECT RAISE(ABORT, 'blind_assignments are facts: append, never delete'); END;
CREATE TRIGGER blind_states_no_update BEFORE update ON blind_states BEGIN SELECT RAISE(ABORT, 'blind_states are facts: append, never update'); END;
CREATE TRIGGER blind_states_no_delete BEFORE delete ON blind_states BEGIN SELECT RAISE(ABORT, 'blind_states are facts: append, never delete'); END;
CREATE TRIGGER blind_scores_no_update BEFORE update ON blind_scores BEGIN SELECT RAISE(ABORT, 'blind_scores are facts: append, never update'); END;
CREATE TRIGGER blind_scores_no_delete BEFORE delete ON blind_scores BEGIN SELECT RAISE(ABORT, 'blind_scores are facts: append, never delete'); END;
CREATE TRIGGER blind_preferences_no_update BEFORE update ON blind_preferences BEGIN SELECT RAISE(ABORT, 'blind_preferences are facts: append, never update'); END;
CREATE TRIGGER blind_preferences_no_delete BEFORE delete ON blind_preferences BEGIN SELECT RAISE(ABORT, 'blind_preferences are facts: append, never delete'); END;
CREATE TRIGGER blind_judgements_no_update BEFORE update ON blind_judgements BEGIN SELECT RAISE(ABORT, 'blind_judgements are facts: append, never update'); END;
CREATE TRIGGER blind_judgements_no_delete BEFORE delete ON blind_judgements BEGIN SELECT RAISE(ABORT, 'blind_judgements are facts: append, never delete'); END;
CREATE TRIGGER log_no_update BEFORE update ON log BEGIN SELECT RAISE(ABORT, 'log are facts: append, never update'); END;
CREATE TRIGGER log_no_delete BEFORE delete ON log BEGIN SELECT RAISE(ABORT, 'log are facts: append, never delete'); END;
CREATE TRIGGER exports_no_update BEFORE update ON exports BEGIN SELECT RAISE(ABORT, 'exports are facts: append, never update'); END;
CREATE TRIGGER exports_no_delete BEFORE delete ON exports BEGIN SELECT RAISE(ABORT, 'exports are facts: append, never delete'); END;
CREATE TRIGGER work_times_no_update BEFORE update ON work_times BEGIN SELECT RAISE(ABORT, 'work_times are facts: append, never update'); END;
CREATE TRIGGER work_times_no_delete BEFORE delete ON work_times BEGIN SELECT RAISE(ABORT, 'work_times are facts: append, never delete'); END;
CREATE INDEX inspections_by_item ON inspections (item, person, id);
CREATE TRIGGER inspections_no_update BEFORE update ON inspections BEGIN SELECT RAISE(ABORT, 'inspections are facts: append, never update'); END;
CREATE TRIGGER inspections_no_delete BEFORE delete ON inspections BEGIN SELECT RAISE(ABORT, 'inspections are facts: append, never delete'); END;
CREATE INDEX scores_in_order ON scores (item, p_yes) WHERE reasons = '[]';
CREATE INDEX showings_by_item ON showings (item, id, at);
CREATE INDEX trials_by_item ON trials (item, id, passed);
CREATE TRIGGER showings_no_update BEFORE update ON showings BEGIN SELECT RAISE(ABORT, 'showings are facts: append, never update'); END;
CREATE TRIGGER showings_no_delete BEFORE delete ON showings BEGIN SELECT RAISE(ABORT, 'showings are facts: append, never delete'); END;
CREATE TRIGGER trials_no_update BEFORE update ON trials BEGIN SELECT RAISE(ABORT, 'trials are facts: append, never update'); END;
CREATE TRIGGER trials_no_delete BEFORE delete ON trials BEGIN SELECT RAISE(ABORT, 'trials are facts: append, never delete'); END;
CREATE INDEX items_by_name ON items (name);
CREATE TRIGGER decisions_counted AFTER INSERT ON decisions BEGIN 
    INSERT INTO decision_figures SELECT d.person, d.round, substr(d.at, 1, 10), i.task, i.batch, 1
    FROM decisions d JOIN items i ON i.id = d.item WHERE d.id = new.id AND d.verb NOT IN ('undo', 'withdraw', 'restore')
    ON CONFLICT DO UPDATE SET decisions = decisions + excluded.decisions; END;
CREATE TRIGGER decisions_uncounted AFTER INSERT ON decisions WHEN new.withdraws IS NOT NULL BEGIN 
    INSERT INTO decision_figures SELECT d.person, d.round, substr(d.at, 1, 10), i.task, i.batch, -1
    FROM decisions d JOIN items i ON i.id = d.item WHERE d.id = new.withdraws AND d.verb NOT IN ('undo', 'withdraw', 'restore')
    ON CONFLICT DO UPDATE SET decisions = decisions + excluded.decisions;
    INSERT INTO time_figures SELECT d.person, d.round, iif(w.active < 1000, round(w.active), 10 * round(w.active / 10)), i.task, i.batch, -1
    FROM work_times w JOIN decisions d ON d.id = w.decision JOIN items i ON i.id = d.item
    WHERE w.decision = new.withdraws AND d.verb NOT IN ('undo', 'withdraw', 'restore')
    ON CONFLICT DO UPDATE SET decisions = decisions + excluded.decisions; END;
CREATE TRIGGER times_counted AFTER INSERT ON work_times BEGIN 
    INSERT INTO time_figures SELECT d.person, d.round, iif(w.active < 1000, round(w.active), 10 * round(w.active / 10)), i.task, i.batch, 1
    FROM work_times w JOIN decisions d ON d.id = w.decision JOIN items i ON i.id = d.item
    WHERE w.decision = new.decision AND d.verb NOT IN ('undo', 'withdraw', 'restore')
    ON CONFLICT DO UPDATE SET decisions = decisions + excluded.decisions; END;
CREATE TRIGGER versions_counted AFTER INSERT ON versions WHEN new.author IS NOT NULL BEGIN INSERT INTO version_figures SELECT new.author, task, batch, 1 FROM items WHERE id = new.item ON CONFLICT DO UPDATE SET versions = versions + 1; END;
CREATE TRIGGER standings_come AFTER INSERT ON standings BEGIN INSERT INTO standing_figures VALUES (coalesce(substr(new.decided_at, 1, 10), ''), new.state, new.task, new.batch, new.compared, new.disagreement, 1) ON CONFLICT DO UPDATE SET items = items + 1; END;
CREATE TRIGGER standings_gone AFTER DELETE ON standings BEGIN UPDATE standing_figures SET items = items - 1 WHERE day = coalesce(substr(old.decided_at, 1, 10), '') AND state = old.state AND task = old.task AND batch = old.batch AND compared = old.compared AND disagreement = old.disagreement; END;
CREATE TRIGGER standings_moved AFTER UPDATE OF state, decided_at, compared, disagreement ON standings BEGIN UPDATE standing_figures SET items = items - 1 WHERE day = coalesce(substr(old.decided_at, 1, 10), '') AND state = old.state AND task = old.task AND batch = old.batch AND compared = old.compared AND disagreement = old.disagreement;INSERT INTO standing_figures VALUES (coalesce(substr(new.decided_at, 1, 10), ''), new.state, new.task, new.batch, new.compared, new.disagreement, 1) ON CONFLICT DO UPDATE SET items = items + 1; END;
PRAGMA writable_schema=OFF;
COMMIT;
PRAGMA application_id = 1399869235;
